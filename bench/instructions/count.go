package instructions

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"banyan/bench/peers"
)

// Row is an operation at a rank.
type Row struct {
	peers.Row
	Rank int
	// Ahead says that the rank's other replicas are behind the counted one, which keeps for them
	// what it sends. Otherwise the counted one is behind, since it is stepped.
	Ahead bool
}

// Rows returns the rows of the project's goals: small messages, small collectives, with replicas
// and without, and in leader order; messages and streams of types with gaps, and messages beside a
// thousand that wait.
func Rows() []Row {
	var rows []Row
	add := func(kind string, bytes, procs, replicas int, ranks ...int) {
		for _, r := range ranks {
			rows = append(rows, Row{Row: peers.Row{Kind: kind, Bytes: bytes, Procs: procs, Replicas: replicas}, Rank: r})
		}
	}
	add("latency", 8, 2, 1, 0)
	add("latency", 1024, 2, 1, 0)
	add("stream", 8, 2, 1, 0, 1)
	add("rate", 8, 2, 1, 0, 1)
	for _, procs := range []int{2, 4} {
		add("barrier", 0, procs, 1, 0)
		add("agree", 0, procs, 1, 0)
		add("bcast", 8, procs, 1, 0, 1)
		add("allreduce", 8, procs, 1, 0)
		add("alltoall", 8, procs, 1, 0)
	}
	for _, size := range []int{8, 1024} {
		add("latency", size, 2, 2, 0)
		rows = append(rows, rows[len(rows)-1])
		rows[len(rows)-1].Ahead = true
	}
	add("barrier", 0, 2, 2, 0)
	for _, order := range []string{"auto", "leader"} { // messages whose sources are named ask for none
		for _, ahead := range []bool{false, true} {
			rows = append(rows, Row{Row: peers.Row{Kind: "latency", Bytes: 8, Procs: 2, Replicas: 2, Order: order}, Ahead: ahead})
		}
	}
	for _, kind := range []string{"vector", "indexed", "struct"} {
		add(kind, 1024, 2, 1, 0)
		add(kind, 16<<10, 2, 1, 0)
		add(kind+"-stream", 1024, 2, 1, 0, 1)
	}
	for _, size := range []int{8, 16 << 10} {
		add("resilient", size, 2, 1, 0)
	}
	add("allreduce", 16<<10, 2, 1, 0)
	add("posted", 8, 2, 1, 0)
	add("unexpected", 8, 2, 1, 0)
	return rows
}

// Kinds are the kinds of Rows, each once.
func Kinds() (kinds []string) {
	for _, r := range Rows() {
		if !slices.Contains(kinds, r.Kind) {
			kinds = append(kinds, r.Kind)
		}
	}
	return kinds
}

// Operation is an operation that was stepped through: the address of each instruction.
type Operation []uint64

// Count is what an operation takes.
type Count struct {
	Instructions int
	Path         []Stretch
}

// Stretch is instructions of one function in a row.
type Stretch struct {
	Function     string
	Instructions int
}

const (
	// Operations is how many operations programs/row.c marks after the first.
	Operations = 12
	// startLimit is how long a job may take until the counted process runs.
	startLimit = 60 * time.Second
)

// Of counts the instructions of a row with the library of an index.
// With replicas one process of the rank is counted. ok is false if the library has no such row.
// each is called after each of the [Operations], and again after those of another try.
func Of(ctx context.Context, b *peers.Bench, library int, row Row, each func()) (c Count, ok bool, err error) {
	// Sometimes a thread is stopped that the counted one needs.
	for try := 0; try < 3; try++ {
		c, ok, err = once(ctx, b, library, row, each)
		if !errors.Is(err, errStuck) {
			break
		}
	}
	if err != nil {
		err = fmt.Errorf("%s, %v: %w", b.Libraries[library].Name, row, err)
	}
	return c, ok, err
}

func once(ctx context.Context, b *peers.Bench, library int, row Row, each func()) (c Count, ok bool, err error) {
	dir, err := os.MkdirTemp("", "banyan-count-")
	if err != nil {
		return c, false, err
	}
	defer os.RemoveAll(dir)
	ctx, cancel := context.WithTimeout(ctx, 3*time.Minute)
	defer cancel()
	arguments := []string{strconv.Itoa(row.Rank), dir}
	if row.Ahead {
		arguments = append(arguments, "ahead")
	}
	job, ok, err := b.Start(ctx, library, row.Row, arguments...)
	if !ok || err != nil {
		return c, ok, err
	}
	processes := max(1, row.Replicas)
	pid, err := appears(ctx, dir, processes)
	var ops []Operation
	var m maps
	if err == nil {
		tell := func(name string) error { return os.WriteFile(filepath.Join(dir, name), nil, 0o644) }
		ops, m, err = steps(ctx, pid, Operations, func() error { return tell("go") }, each)
		err = errors.Join(err, tell("done"))
	}
	if err != nil {
		cancel()
		return c, true, errors.Join(err, hint(job.Wait(), err))
	}
	if err := job.Wait(); err != nil {
		return c, true, err
	}
	return least(ops, &Symbols{maps: m, files: map[string][]symbol{}}), true, nil
}

// hint returns the end of a job's output, unless the job was ended for a known reason.
func hint(job, known error) error {
	if errors.Is(known, errStuck) {
		return nil
	}
	return job
}

// appears waits for the processes of the rank and returns the first.
func appears(ctx context.Context, dir string, processes int) (pid int, err error) {
	limit := time.NewTimer(startLimit)
	defer limit.Stop()
	for {
		files, err := os.ReadDir(dir)
		if err != nil {
			return 0, err
		}
		if len(files) >= processes {
			return strconv.Atoi(files[0].Name())
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-limit.C:
			return 0, errors.New("the job doesn't come to its operations")
		case <-time.After(5 * time.Millisecond):
		}
	}
}

// least sums up the operation with the fewest instructions. The others were disturbed by a
// signal, a heartbeat, or a late peer.
func least(ops []Operation, s *Symbols) Count {
	least := slices.MinFunc(ops, func(a, b Operation) int { return cmp.Compare(len(a), len(b)) })
	c := Count{Instructions: len(least)}
	for _, address := range least {
		name := s.Name(address)
		if n := len(c.Path); n > 0 && c.Path[n-1].Function == name {
			c.Path[n-1].Instructions++
		} else {
			c.Path = append(c.Path, Stretch{name, 1})
		}
	}
	return c
}

// Profile returns the instructions by function, those with the most first.
func (c *Count) Profile() []Stretch {
	sum := map[string]int{}
	for _, s := range c.Path {
		sum[s.Function] += s.Instructions
	}
	var p []Stretch
	for f, n := range sum {
		p = append(p, Stretch{f, n})
	}
	slices.SortFunc(p, func(a, b Stretch) int {
		return cmp.Or(cmp.Compare(b.Instructions, a.Instructions), cmp.Compare(a.Function, b.Function))
	})
	return p
}
