package contention

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"banyan/bench/processes"
	"banyan/internal/study/planning/risk"
)

const (
	// startLimit bounds the start of all nodes, runLimit a run.
	startLimit = time.Minute
	runLimit   = 2 * time.Minute
	// lead is from the word to begin until the beginning: all parents have heard of it by then.
	lead = 20 * time.Millisecond
)

// oneProcessor is for the nodes: there are more of them than processors, and none should look for
// work on several.
const oneProcessor = "GOMAXPROCS=1"

// field is the nodes, which stay for all runs.
type field struct {
	ctx        context.Context
	group      *processes.Group
	scoreboard *scoreboard
	nodes      []*json.Encoder // to their standard inputs
	pids       []int
	pipes      []*os.File
	epoch      int64
	stop       context.CancelFunc
}

// newField starts nodes.
func newField(ctx context.Context, again []string, nodes int) (*field, error) {
	b, err := newScoreboard(nodes)
	if err != nil {
		return nil, err
	}
	g, err := processes.NewGroup(again)
	if err != nil {
		b.Close()
		return nil, err
	}
	ctx, stop := context.WithCancel(ctx)
	f := &field{ctx: ctx, group: g, scoreboard: b, stop: stop}
	go func() {
		select {
		case <-ctx.Done():
		case <-g.Failed:
			stop()
		}
	}()
	for row := range nodes {
		if err := f.start(row); err != nil {
			f.close()
			return nil, err
		}
	}
	if err := f.wait("listen", startLimit, nodes, 1, func(row int) bool { return b.word(row, wordPort).Load() != 0 }); err != nil {
		f.close()
		return nil, err
	}
	return f, nil
}

// start starts a node.
func (f *field) start(row int) error {
	theirs, ours, err := os.Pipe()
	if err != nil {
		return err
	}
	defer theirs.Close()
	f.pipes = append(f.pipes, ours)
	f.nodes = append(f.nodes, json.NewEncoder(ours))
	c, err := f.group.Start(processes.Process{Name: fmt.Sprintf("node %d", row), Env: []string{oneProcessor}, Stdin: theirs})
	if err != nil {
		return err
	}
	f.pids = append(f.pids, c.Process.Pid)
	return f.nodes[row].Encode(order{Scoreboard: f.scoreboard.Path(), Rows: f.scoreboard.rows, Row: row})
}

func (f *field) close() {
	f.stop()
	f.group.Close()
	for _, p := range f.pipes {
		p.Close()
	}
	f.scoreboard.Close()
}

// wait waits until every so manieth node of the first ones has done something.
func (f *field) wait(what string, limit time.Duration, nodes, every int, done func(row int) bool) error {
	late := 0
	all := func() bool {
		for ; late < nodes; late += every {
			if !done(late) {
				return false
			}
		}
		return true
	}
	if processes.WaitFor(f.ctx.Done(), limit, all) {
		return nil
	}
	if err := f.ctx.Err(); err != nil {
		return f.group.Err(err.Error())
	}
	return f.group.Err(fmt.Sprintf("node %d doesn't %s after %v", late, what, limit))
}

// measure runs a point once.
func (f *field) measure(p point, size int, pause time.Duration) (Row, error) {
	row := Row{Children: p.children, Nodes: p.nodes}
	if p.groups() == 0 {
		return row, errors.New("no whole group")
	}
	f.epoch++
	group := p.children + 1
	for parent := 0; parent < p.nodes; parent += group {
		o := order{Epoch: f.epoch, Size: size, Pause: int64(pause)}
		for child := parent + 1; child < parent+group; child++ {
			o.Children = append(o.Children, fmt.Sprintf("127.0.0.1:%d", f.scoreboard.word(child, wordPort).Load()))
		}
		if err := f.nodes[parent].Encode(o); err != nil {
			return row, f.group.Err(err.Error())
		}
	}
	if err := f.wait("reach its children", runLimit, p.nodes, group, func(row int) bool { return f.scoreboard.word(row, wordReady).Load() == f.epoch }); err != nil {
		return row, err
	}
	before, err := f.worked(p.nodes)
	if err != nil {
		return row, f.group.Err(err.Error())
	}
	f.scoreboard.begin().Store(processes.Monotonic() + int64(lead))
	f.scoreboard.epoch().Store(f.epoch)
	if err := f.wait("end its run", runLimit, p.nodes, group, func(row int) bool { return f.scoreboard.word(row, wordDone).Load() == f.epoch }); err != nil {
		return row, err
	}
	after, err := f.worked(p.nodes)
	if err != nil {
		return row, f.group.Err(err.Error())
	}
	messages := int64(0)
	for parent := 0; parent < p.nodes; parent += group {
		messages += f.scoreboard.word(parent, wordRounds).Load() * int64(2*p.children)
		t := risk.Seconds(f.scoreboard.word(parent, wordTime).Load()) * 1e-9
		row.Latency += t / risk.Seconds(p.groups())
		if row.Least == 0 || t < row.Least {
			row.Least = t
		}
		row.Most = max(row.Most, t)
	}
	row.Work = risk.Seconds((after - before).Seconds() / float64(messages))
	return row, nil
}

// worked is the time of processors that the first nodes have used so far.
func (f *field) worked(nodes int) (sum time.Duration, err error) {
	for _, pid := range f.pids[:nodes] {
		t, err := processes.ProcessorTime(pid)
		if err != nil {
			return 0, fmt.Errorf("the processor time of process %d: %w", pid, err)
		}
		sum += t
	}
	return sum, nil
}
