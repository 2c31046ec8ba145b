package binding

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"

	"banyan/internal/proto"
	"banyan/internal/runtime/connection"
	"banyan/internal/runtime/process"
)

// A link is a connection to processes of other jobs, with what was made from it. It has an engine
// and ranks of its own. Groups have one numbering for all: ranks of the world, and above them a
// number for each process of another job that this process is, or was, connected to. So groups of
// different connections compare, and make others.
type link struct {
	conn *connection.Connection
	uses atomic.Int32 // communicators and windows that it has
	// numbers are those of its processes, ranks the other way round.
	numbers []proto.Rank
	ranks   map[proto.Rank]proto.Rank
	over    func() // called when it isn't used any more
}

// strangers are the processes of other jobs that this one knows.
type strangers struct {
	mu    sync.Mutex
	known map[connection.Member]proto.Rank
}

// newLink makes the link of a connection.
func (p *Process) newLink(conn *connection.Connection) *link {
	l := &link{conn: conn, ranks: make(map[proto.Rank]proto.Rank)}
	own := p.job.AmongJobs().Job
	s := &p.strangers
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = make(map[connection.Member]proto.Rank)
	}
	for r, m := range conn.Members {
		number := m.Rank
		if m.Job != own {
			var is bool
			if number, is = s.known[m]; !is {
				number = proto.Rank(p.world.Load().comm.Size() + len(s.known))
				s.known[m] = number
			}
		}
		l.numbers = append(l.numbers, number)
		l.ranks[number] = proto.Rank(r)
	}
	// The connection ends when nothing of it is left here, in the background: the other side
	// may still have something.
	l.over = func() { go conn.Finish() }
	return l
}

// retain notes one use more. It returns the link, which may be nil.
func (l *link) retain() *link {
	if l != nil {
		l.uses.Add(1)
	}
	return l
}

func (l *link) release() {
	if l != nil && l.uses.Add(-1) == 0 {
		l.over()
	}
}

// outside gives ranks of a communicator's job or connection the numbers that groups have.
func (p *Process) outside(c *communicator, ranks []proto.Rank) []proto.Rank {
	if c.link == nil {
		return ranks
	}
	all := make([]proto.Rank, len(ranks))
	for i, r := range ranks {
		all[i] = c.link.numbers[r]
	}
	return all
}

// inside does the reverse: a process that isn't there is -1.
func (p *Process) inside(c *communicator, numbers []proto.Rank) []proto.Rank {
	if c.link == nil {
		world := proto.Rank(p.world.Load().comm.Size())
		if !slices.ContainsFunc(numbers, func(r proto.Rank) bool { return r >= world }) {
			return numbers
		}
		all := slices.Clone(numbers)
		for i, r := range all {
			if r >= world {
				all[i] = -1
			}
		}
		return all
	}
	all := make([]proto.Rank, len(numbers))
	for i, n := range numbers {
		r, is := c.link.ranks[n]
		if !is {
			r = -1
		}
		all[i] = r
	}
	return all
}

// inJob is an error about a rank of a connection as one about a rank of the job: nil if the rank
// is in another one.
func (l *link) inJob(p *Process, err error) error {
	lost := (*process.LostError)(nil)
	if l == nil || !errors.As(err, &lost) {
		return err
	}
	if number := l.numbers[lost.Rank]; int(number) < p.world.Load().comm.Size() {
		return &process.LostError{Rank: number}
	}
	return nil
}
