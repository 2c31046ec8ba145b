package membership

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"

	"banyan/internal/study/planning/risk"
	"banyan/internal/study/table"
)

// Row is one change that was measured.
type Row struct {
	Setting
	Run int
	// Stabilise is from the coordinator's first step until it had all acknowledgements, Commit
	// until the last member had installed the view.
	Stabilise, Commit risk.Seconds
	// Messages are those that all members sent for it: to agree (proposals and acknowledgements;
	// in a takeover also questions what was accepted, and reports), and commits. News of deaths
	// and requests to join aren't counted.
	Messages int
	Commits  int // of these; not in the CSV
	// First is from just before the fault until the first member had the new view, All until all
	// had: detection is in both. They aren't in the CSV.
	First, All risk.Seconds
	// Busy is the share of all processors' time that the members used from just before the fault
	// until all had the view: 1 if nothing else ran and none was idle.
	Busy float64
	// The times that the models give for this machine.
	Base, Contention risk.Seconds
}

// csvHead are the columns of rows as CSV.
var csvHead = []string{"n", "arity", "fault", "run", "stabilise_us", "commit_us", "messages", "busy", "base_model_us", "contention_model_us"}

// WriteCSV writes rows with a heading.
func WriteCSV(w io.Writer, rows []Row) error {
	out := csv.NewWriter(w)
	us := func(s risk.Seconds) string { return strconv.FormatFloat(float64(s)*1e6, 'f', 1, 64) }
	records := [][]string{csvHead}
	for _, r := range rows {
		records = append(records, []string{
			strconv.Itoa(r.N), strconv.Itoa(r.Arity), r.Fault.String(), strconv.Itoa(r.Run),
			us(r.Stabilise), us(r.Commit), strconv.Itoa(r.Messages), strconv.FormatFloat(r.Busy, 'f', 3, 64), us(r.Base), us(r.Contention),
		})
	}
	return out.WriteAll(records)
}

// ReadCSV reads what WriteCSV has written. Errors name the line.
func ReadCSV(r io.Reader) ([]Row, error) {
	return table.ReadCSV(r, csvHead, "banyan bench membership --format csv", parseRow)
}

func parseRow(fields []string) (r Row, err error) {
	for i, to := range []any{&r.N, &r.Arity, &r.Fault, &r.Run, &r.Stabilise, &r.Commit, &r.Messages, &r.Busy, &r.Base, &r.Contention} {
		switch to := to.(type) {
		case *int:
			*to, err = strconv.Atoi(fields[i])
		case *Fault:
			*to, err = ParseFault(fields[i])
		case *float64:
			if *to, err = strconv.ParseFloat(fields[i], 64); err == nil && !(*to >= 0 && *to <= math.MaxFloat32) {
				err = errors.New("want a share")
			}
		case *risk.Seconds:
			var us float64
			us, err = strconv.ParseFloat(fields[i], 64)
			if err == nil && !(us >= 0 && us <= math.MaxFloat32) {
				err = errors.New("want microseconds")
			}
			*to = risk.Seconds(us * 1e-6)
		}
		if err != nil {
			return r, fmt.Errorf("%s: %.40q: %w", csvHead[i], fields[i], err)
		}
	}
	return r, r.Check()
}
