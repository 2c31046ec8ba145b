package campaign

import (
	"bufio"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"

	"banyan/internal/proto"
	"banyan/internal/splitmix"
	"banyan/internal/study/driver/logp"
)

// Columns of the results: those of the point, then run, seed and outcome. The
// first ones have the names and texts of a [logp.Table].
var (
	pointColumns   = []string{"procs", "L", "o", "tree", "k", "numbering", "correction", "distance", "start"}
	moreColumns    = []string{"gossip_time", "gossip_rounds", "delay", "gap", "node_size", "placement", "latency_within", "noise"}
	outcomeColumns = []string{"messages", "unreached", "coloring", "quiescence", "max_gap", "crashed"}
	header         = strings.Join(slices.Concat(
		pointColumns, []string{"failed_count"}, moreColumns, []string{"failed_nodes", "crash_count", "run", "seed"}, outcomeColumns,
	), ",") + "\n"
)

// columns is a point's part of a row, and what its seeds are made of: the first
// columns and, of the others, those that aren't empty, so that a new column doesn't change
// the seeds of points that don't use it.
func (p *Point) columns() (text, key string) {
	row := logp.Row{Case: p.Case}
	var b, k strings.Builder
	for _, c := range pointColumns {
		b.WriteString(row.Field(c) + ",")
	}
	b.WriteString(strconv.Itoa(p.Dead))
	k.WriteString(b.String())
	more := func(name, field string) {
		b.WriteString("," + field)
		if field != "" && field != "0" {
			k.WriteString("," + name + "=" + field)
		}
	}
	for _, c := range moreColumns {
		more(c, row.Field(c))
	}
	more("failed_nodes", strconv.Itoa(p.DeadNodes))
	more("crash_count", strconv.Itoa(p.Crashes))
	return b.String(), k.String()
}

// at is a row's point, and its run within that.
func (s *Spec) at(row int) (p *Point, run int) { return &s.Points[row/s.Runs], row % s.Runs }

// seed returns the seed of one run.
func (s *Spec) seed(p *Point, run int) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%d,%s,%d", s.Seed, p.key, run)
	// The hashes of texts that differ in the last digit are alike, so they are mixed.
	return splitmix.Finalise(h.Sum64())
}

// about is a row up to its outcome.
func (s *Spec) about(row int) string {
	p, run := s.at(row)
	return fmt.Sprintf("%s,%d,%d", p.text, run, s.seed(p, run))
}

// line is a whole row.
func (s *Spec) line(row int, o logp.Outcome) string {
	return fmt.Sprintf("%s,%d,%d,%d,%d,%d,%d\n", s.about(row), o.Messages, o.Unreached, o.Coloring, o.Quiescence, o.MaxGap, o.Crashed)
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

// check reads results, demands that they are of this campaign, and returns how many whole rows
// there are and how many bytes they take with the header.
func (s *Spec) check(r io.Reader) (rows int, size int64, err error) {
	return s.read(r, func(int, logp.Outcome) error { return nil })
}

// read is check that calls a function with every row.
func (s *Spec) read(r io.Reader, visit func(row int, o logp.Outcome) error) (rows int, size int64, err error) {
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
		if whole, _, torn := strings.Cut(line, "\x00"); torn && (n > 1 || strings.HasPrefix(header, whole)) {
			return rows, size, nil // a loss of power has torn it: it was never written whole
		}
		if n == 1 {
			if line != header {
				return 0, 0, errors.New("line 1: not the results of a campaign")
			}
		} else {
			if rows == s.Total() {
				return 0, 0, fmt.Errorf("line %d: the spec ends at line %d: it has changed; choose another file", n, n-1)
			}
			text, ok := strings.CutPrefix(line, s.about(rows)+",")
			if !ok {
				return 0, 0, fmt.Errorf("line %d: the spec wants %s,… here: it has changed; choose another file", n, s.about(rows))
			}
			outcome, ok := parseOutcome(strings.TrimSuffix(text, "\n"))
			if !ok {
				return 0, 0, fmt.Errorf("line %d: damaged: %q is no outcome", n, strings.TrimSuffix(text, "\n"))
			}
			if err := visit(rows, outcome); err != nil {
				return 0, 0, err
			}
			rows++
		}
		size += int64(len(line))
	}
}

// parseOutcome reads the last columns of a line.
func parseOutcome(text string) (o logp.Outcome, ok bool) {
	var numbers [6]int
	for i := range numbers {
		field, rest, more := strings.Cut(text, ",")
		n, err := strconv.Atoi(field)
		if err != nil || more != (i < len(numbers)-1) {
			return o, false
		}
		numbers[i], text = n, rest
	}
	return logp.Outcome{
		Messages: numbers[0], Unreached: numbers[1], Coloring: proto.Time(numbers[2]), Quiescence: proto.Time(numbers[3]),
		MaxGap: numbers[4], Crashed: numbers[5],
	}, true
}
