package campaign

import (
	"bufio"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"strconv"
	"strings"
	"syscall"

	"banyan/internal/logp"
)

// Columns of the results: those of the point, then run, seed and outcome.
var (
	pointColumns   = []string{"procs", "L", "o", "tree", "k", "numbering", "correction", "distance", "start"}
	outcomeColumns = []string{"messages", "unreached", "coloring", "quiescence", "max_gap"}
	header         = strings.Join(pointColumns, ",") + ",failed_count,run,seed," + strings.Join(outcomeColumns, ",") + "\n"
)

// columns is a point's part of a row.
func (p *Point) columns() string {
	row := logp.Row{Case: p.Case}
	var b strings.Builder
	for _, c := range pointColumns {
		b.WriteString(row.Field(c))
		b.WriteByte(',')
	}
	b.WriteString(strconv.Itoa(p.Dead))
	return b.String()
}

// at is a row's point, and its run within that.
func (s *Spec) at(row int) (p *Point, run int) { return &s.Points[row/s.Runs], row % s.Runs }

// seed is that of one run.
func (s *Spec) seed(p *Point, run int) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d,%s,%d", s.Seed, p.text, run)
	// Hashes of texts that differ in the last digit are alike: mix them (splitmix64).
	x := h.Sum64()
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// about is a row up to its outcome.
func (s *Spec) about(row int) string {
	p, run := s.at(row)
	return fmt.Sprintf("%s,%d,%d", p.text, run, s.seed(p, run))
}

// line is a whole row.
func (s *Spec) line(row int, o logp.Outcome) string {
	return fmt.Sprintf("%s,%d,%d,%d,%d,%d\n", s.about(row), o.Messages, o.Unreached, o.Coloring, o.Quiescence, o.MaxGap)
}

// open opens a file of results, new or not, for appending, and says how many rows
// are there. A torn last line is cut off.
func (s *Spec) open(path string) (file *os.File, rows int, err error) {
	file, err = os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			_ = file.Close() // the first error counts
		}
	}()
	if err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return nil, 0, fmt.Errorf("%s: another campaign is writing to it (%w)", path, err)
	}
	rows, size, err := s.check(file)
	if err != nil {
		return nil, 0, fmt.Errorf("%s: %w", path, err)
	}
	if err := file.Truncate(size); err != nil {
		return nil, 0, err
	}
	if _, err := file.Seek(size, io.SeekStart); err != nil {
		return nil, 0, err
	}
	if size == 0 {
		_, err = file.WriteString(header)
	}
	return file, rows, err
}

// check reads results, demands that they are of this campaign, and says how many
// whole rows there are and how many bytes they take with the header.
func (s *Spec) check(r io.Reader) (rows int, size int64, err error) {
	in := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, err := in.ReadString('\n')
		if errors.Is(err, io.EOF) {
			if n == 1 && !strings.HasPrefix(header, line) {
				return 0, 0, errors.New("line 1: not the results of a campaign")
			}
			return rows, size, nil
		}
		if err != nil {
			return 0, 0, err
		}
		if n == 1 {
			if line != header {
				return 0, 0, errors.New("line 1: not the results of a campaign")
			}
		} else {
			if rows == s.Total() {
				return 0, 0, fmt.Errorf("line %d: the spec ends at line %d: it has changed; choose another file", n, n-1)
			}
			outcome, ok := strings.CutPrefix(line, s.about(rows)+",")
			if !ok {
				return 0, 0, fmt.Errorf("line %d: the spec wants %s,… here: it has changed; choose another file", n, s.about(rows))
			}
			if !isOutcome(outcome) {
				return 0, 0, fmt.Errorf("line %d: damaged: %q is no outcome", n, strings.TrimSuffix(outcome, "\n"))
			}
			rows++
		}
		size += int64(len(line))
	}
}

func isOutcome(text string) bool {
	numbers := strings.Split(strings.TrimSuffix(text, "\n"), ",")
	for _, n := range numbers {
		if _, err := strconv.ParseInt(n, 10, 64); err != nil {
			return false
		}
	}
	return len(numbers) == len(outcomeColumns)
}
