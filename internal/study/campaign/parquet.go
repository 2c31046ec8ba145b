package campaign

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/parquet-go/parquet-go"

	"banyan/internal/study/driver/logp"
)

// Row is a row of the results as Parquet: the columns of the CSV with their types. Empty fields
// of the CSV are null here, and distances are two numbers.
type Row struct {
	Procs         int32   `parquet:"procs"`
	Latency       int32   `parquet:"L"`
	Overhead      int32   `parquet:"o"`
	Tree          string  `parquet:"tree,dict"`
	K             *int32  `parquet:"k,optional"`
	Numbering     *string `parquet:"numbering,optional,dict"`
	Correction    string  `parquet:"correction,dict"`
	DistanceLeft  *int32  `parquet:"distance_left,optional"`
	DistanceRight *int32  `parquet:"distance_right,optional"`
	Start         *string `parquet:"start,optional,dict"`
	FailedCount   int32   `parquet:"failed_count"`
	GossipTime    *int64  `parquet:"gossip_time,optional"`
	GossipRounds  *int32  `parquet:"gossip_rounds,optional"`
	Delay         *int32  `parquet:"delay,optional"`
	Gap           *int32  `parquet:"gap,optional"`
	NodeSize      *int32  `parquet:"node_size,optional"`
	Placement     *string `parquet:"placement,optional,dict"`
	LatencyWithin *int32  `parquet:"latency_within,optional"`
	Noise         *int32  `parquet:"noise,optional"`
	FailedNodes   int32   `parquet:"failed_nodes"`
	CrashCount    int32   `parquet:"crash_count"`
	Run           int64   `parquet:"run"`
	Seed          uint64  `parquet:"seed"`
	Messages      int64   `parquet:"messages"`
	Unreached     int32   `parquet:"unreached"`
	Coloring      int64   `parquet:"coloring"`
	Quiescence    int64   `parquet:"quiescence"`
	MaxGap        int32   `parquet:"max_gap"`
	Crashed       int32   `parquet:"crashed"`
}

// rowGroup is how many rows a row group of the Parquet file has; so many wait in memory.
const rowGroup = 1 << 16

// errIncomplete says that a campaign isn't finished.
var errIncomplete = errors.New("the campaign isn't complete")

// WriteParquet makes a Parquet file of the results in a CSV file, which must be complete. The new
// file appears whole or not at all, whenever it is interrupted. progress may be nil.
func (s *Spec) WriteParquet(csv, path string, progress Progress) error {
	in, err := os.Open(csv)
	if err != nil {
		return err
	}
	defer in.Close()
	if err := syscall.Flock(int(in.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		return fmt.Errorf("%s: another campaign is writing to it (%w)", csv, err)
	}
	// Under the lock no other process uses this name; a file that a kill left there is
	// overwritten.
	unfinished := filepath.Join(filepath.Dir(path), "."+filepath.Base(path)+".unfinished")
	out, err := os.Create(unfinished)
	if err != nil {
		return err
	}
	err = s.convert(in, out, progress)
	if err == nil {
		err = out.Sync()
	}
	if closed := out.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(unfinished, path)
	}
	if err != nil {
		_ = os.Remove(unfinished) // the first error counts
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

// convert writes complete results as Parquet.
func (s *Spec) convert(in, out *os.File, progress Progress) error {
	w := parquet.NewGenericWriter[Row](out, parquet.Compression(&parquet.Zstd), parquet.MaxRowsPerRowGroup(rowGroup))
	var last *Point
	var known Row // its part
	rows, _, err := s.read(in, func(row int, o logp.Outcome) error {
		p, run := s.at(row)
		if p != last {
			last, known = p, p.row()
		}
		r := known
		r.Run, r.Seed = int64(run), s.seed(p, run)
		r.Messages, r.Coloring, r.Quiescence = int64(o.Messages), int64(o.Coloring), int64(o.Quiescence)
		r.Unreached, r.MaxGap, r.Crashed = int32(o.Unreached), int32(o.MaxGap), int32(o.Crashed)
		if progress != nil && row%rowGroup == 0 {
			progress(row, s.Total())
		}
		_, err := w.Write([]Row{r})
		return err
	})
	if err == nil && rows < s.Total() {
		err = fmt.Errorf("%w: %d of %d broadcasts", errIncomplete, rows, s.Total())
	}
	return errors.Join(err, w.Close())
}

// row is a point's part of a row.
func (p *Point) row() Row {
	c, m := &p.Case, &p.Case.Model
	r := Row{
		Procs: int32(c.Procs), Latency: int32(c.Latency), Overhead: int32(c.Overhead), Tree: string(c.Tree),
		Correction: c.Correction.String(), FailedCount: int32(p.Dead), FailedNodes: int32(p.DeadNodes), CrashCount: int32(p.Crashes),
		K: some(c.K), GossipRounds: some(c.Gossip.Rounds), Delay: some(c.Delay), Gap: some(m.Gap), NodeSize: some(m.Nodes.Size),
		LatencyWithin: some(m.LatencyWithin), Noise: some(m.Noise),
	}
	if c.Gossip.Until != 0 {
		until := int64(c.Gossip.Until)
		r.GossipTime = &until
	}
	if c.Correction.HasDistance() {
		left, right := int32(c.Distance), int32(c.Distance)
		if c.Unequal {
			left = int32(c.LeftDistance)
		}
		r.DistanceLeft, r.DistanceRight = &left, &right
	}
	text := logp.Row{Case: *c}
	for column, to := range map[string]**string{"numbering": &r.Numbering, "start": &r.Start, "placement": &r.Placement} {
		if field := text.Field(column); field != "" && field != "-" {
			*to = &field
		}
	}
	return r
}

// some is a number, or nil if it is 0.
func some(n int) *int32 {
	if n == 0 {
		return nil
	}
	v := int32(n)
	return &v
}

// Journal is the CSV file in which the results for a file are kept as they come: the file
// itself, or, of results.parquet, results.csv.
func Journal(path string) string {
	if base, ok := strings.CutSuffix(path, ".parquet"); ok {
		return base + ".csv"
	}
	return path
}
