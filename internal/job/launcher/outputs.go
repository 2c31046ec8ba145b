package launcher

import (
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/launcher/output"
	"banyan/internal/layout"
	"banyan/internal/proto"
)

const (
	// outputKept bounds the output kept of a replica that is ahead.
	outputKept = 256 << 10
	// promptDelay is how long an unfinished line of a replica is kept back.
	promptDelay = 50 * time.Millisecond
	// lineHold is how long an unfinished line of a rank keeps the lines of other ranks
	// waiting.
	lineHold = time.Second
)

// outputs reads what the processes write, and passes on the output of each rank once.
type outputs struct {
	layout           layout.Layout
	screen           Screen
	kept             bool // agents keep what wasn't shown, for a launcher that takes over
	positions        *positions
	stdouts, stderrs []*output.Collector // by rank
	readers          []sync.WaitGroup    // by rank: goroutines that read a replica's output
	ranks            sync.WaitGroup      // ranks whose output hasn't ended
}

func newOutputs(l layout.Layout, s Screen, kept, heal bool) *outputs {
	return &outputs{
		layout: l, screen: s, kept: kept, positions: newPositions(l.Ranks(), kept && heal),
		stdouts: make([]*output.Collector, l.Ranks()), stderrs: make([]*output.Collector, l.Ranks()),
		readers: make([]sync.WaitGroup, l.Ranks()),
	}
}

// collectOutput makes the collectors. They post errors and differences to the loop.
func (j *job) collectOutput() {
	j.Screen.OnShown(j.outputs.positions.shown)
	for r := range j.layout.Ranks() {
		var at [2]int64 // where the output begins
		if j.back != nil {
			at = j.back.committed.output[r]
			j.outputs.positions.shown(r, false, at[0])
			j.outputs.positions.shown(r, true, at[1])
		}
		j.outputs.stdouts[r] = j.collector(r, false)
		j.outputs.stderrs[r] = j.collector(r, true)
		for k := range j.layout.Degree(proto.Rank(r)) {
			j.outputs.stdouts[r].Begin(k, at[0])
			j.outputs.stderrs[r].Begin(k, at[1])
		}
	}
}

// collector makes the collector of one stream of one rank.
func (j *job) collector(rank int, stderr bool) *output.Collector {
	failed, stream := false, map[bool]string{false: "stdout", true: "stderr"}[stderr]
	at := j.outputs.positions.begin(rank, stderr)
	return output.NewCollector(output.Config{
		Replicas: j.layout.Degree(proto.Rank(rank)), Keep: outputKept, Delay: promptDelay, Together: j.Order != OrderFree,
		Print: func(b []byte) {
			if err := j.Screen.Print(rank, stderr, at, b); err != nil && !failed {
				failed = true
				j.post(func() { j.outputFailed(stream, err) })
			}
			at += int64(len(b))
		},
		Diverged: func(first *output.Difference, leader int) {
			where := fmt.Sprintf("line %d", first.Line)
			if lines := first.String(); lines != "" {
				where += ": " + lines
			}
			j.post(func() {
				j.warn(fmt.Sprintf("the replicas of rank %d write different bytes to %s, first in %s; those of replica %d are shown", rank, stream, where, leader))
			})
		},
	})
}

func (j *job) outputFailed(stream string, err error) {
	if j.outputError == nil {
		j.outputError = err
		j.warn(fmt.Sprintf("output to %s is lost: %v", stream, err))
	}
}

// slot is the rank and the replica of a process.
func (o *outputs) slot(p proto.Proc) (rank, replica int) {
	return int(o.layout.Rank(p)), o.layout.Replica(p)
}

// read passes on what a process writes, until its end.
func (o *outputs) read(p *process) {
	rank, replica := o.slot(p.id)
	read := func(c *output.Collector, from agent.Output, stderr bool) {
		kept, keeps := from.(agent.Kept)
		stream := io.Reader(from)
		if keeps = keeps && o.kept; keeps {
			kept.Keep()
			stream = o.positions.add(rank, p, stderr, kept)
		}
		o.readers[rank].Go(func() {
			if rest, ok := pass(p, stderr, stream); !ok {
				io.Copy(io.Discard, rest) // it doesn't begin where the user's output ends
				p.leftInOrder()
				c.Copy(replica, strings.NewReader(""), func() bool { return false })
			} else {
				c.Copy(replica, rest, p.leftInOrder)
			}
			if !keeps { // otherwise another launcher may still need it
				from.Close()
			}
		})
	}
	read(o.stdouts[rank], p.Stdout(), false)
	read(o.stderrs[rank], p.Stderr(), true)
}

// endRanks tells the printers when all output of a rank is read.
func (o *outputs) endRanks() {
	for r := range o.readers {
		o.ranks.Go(func() {
			o.readers[r].Wait()
			o.screen.Ended(r)
		})
	}
}

// wait waits until all output is read.
func (o *outputs) wait() { o.ranks.Wait() }

// hurry says whether all output of a process is read at once, because a replacement waits for its
// end.
func (o *outputs) hurry(p proto.Proc, is bool) {
	rank, replica := o.slot(p)
	o.stdouts[rank].Hurry(replica, is)
	o.stderrs[rank].Hurry(replica, is)
}

// follow has the output of a replacement follow its donor's, which was read up to its mark, and
// reads it.
func (o *outputs) follow(p, donor *process) {
	rank, replica := o.slot(p.id)
	_, like := o.slot(donor.id)
	o.stdouts[rank].Follow(replica, like)
	o.stderrs[rank].Follow(replica, like)
	p.follows = true
	p.base = [2]int64{o.stdouts[rank].Fed(replica), o.stderrs[rank].Fed(replica)}
	p.start = p.base
	for i := range p.tails {
		p.tails[i] = o.positions.tail(rank, donor, i == 1, p.base[i])
	}
	o.read(p)
}
