package file

import (
	"cmp"
	"slices"
	"syscall"

	"banyan/internal/mpi/comm"
)

// The data of a domain is moved window by window, so that an aggregator needs memory for a few of
// them only. Window k of one domain is moved beside window k of the others: round k. A member
// starts the messages of a round before it waits for those of the round before. Nobody waits for a
// round before it has started all messages of the earlier ones, so nobody waits in vain.

// piece is what one member has in one window: bytes that follow each other in its data.
type piece struct {
	window int64
	peer   int // the aggregator, or the member
	at     int64
	bytes  int64
	runs   []Run  // at the aggregator: the runs that it lies in, of which the first may begin earlier
	into   int64  // in the first run
	data   []byte // at the aggregator
}

// cut divides ascending runs in a domain into the pieces of its windows. at is where the data of
// the first run begins.
func cut(pieces []piece, runs []Run, from, buffer int64, peer int, at int64) []piece {
	for i := range runs {
		for off := runs[i].Off; off < runs[i].End(); {
			window := (off - from) / buffer
			left := runs[i].End() - off
			if room := buffer - (off-from)%buffer; left > room {
				left = room
			}
			if k := len(pieces) - 1; k < 0 || pieces[k].peer != peer || pieces[k].window != window {
				pieces = append(pieces, piece{window: window, peer: peer, at: at, runs: runs[i:], into: off - runs[i].Off})
			}
			pieces[len(pieces)-1].bytes += left
			off += left
			at += left
		}
	}
	return pieces
}

// each shows the runs of a piece at an aggregator, with their data.
func (p *piece) each(visit func(off int64, data []byte)) {
	c := p.cursor()
	for c.left() {
		visit(c.next())
	}
}

// cursor goes through a piece.
type cursor struct {
	runs []Run
	into int64
	data []byte
}

func (p *piece) cursor() cursor { return cursor{p.runs, p.into, p.data} }

func (c *cursor) left() bool { return len(c.data) > 0 }
func (c *cursor) off() int64 { return c.runs[0].Off + c.into }

func (c *cursor) next() (off int64, data []byte) {
	off = c.off()
	n := min(c.runs[0].Len-c.into, int64(len(c.data)))
	data, c.data = c.data[:n], c.data[n:]
	c.runs, c.into = c.runs[1:], 0
	return off, data
}

// round is the pieces of one window: those that this member exchanges with aggregators, and those
// of its own domain.
type round struct{ mine, theirs []piece }

// transferRounds moves the data of all windows.
func (e *exchange) transferRounds(s comm.Stage) {
	if err := e.readLists(s); err != nil {
		e.out.Err = err
	}
	rounds := e.plan(s)
	if e.a.Write {
		e.writeRounds(s, rounds)
	} else {
		e.readRounds(s, rounds)
	}
	e.finish(s)
}

// plan finds the pieces of all rounds, and takes the memory for them.
func (e *exchange) plan(s comm.Stage) (rounds []round) {
	var mine, theirs []piece
	at := int64(0)
	for i, aggregator := range e.aggregators {
		from, end := e.domainOf(i)
		part := inside(e.runs, from, end)
		if aggregator != s.Rank() {
			mine = cut(mine, part, from, e.hints.Buffer, aggregator, at)
		}
		own := at
		for _, r := range part {
			at += r.Len
		}
		if i != e.index {
			continue
		}
		for member, runs := range e.lists {
			theirs = cut(theirs, runs, from, e.hints.Buffer, member, own)
		}
	}
	order := func(a, b piece) int { return cmp.Or(cmp.Compare(a.window, b.window), cmp.Compare(a.peer, b.peer)) }
	slices.SortFunc(mine, order)
	slices.SortFunc(theirs, order)
	room := int64(0)
	for len(mine)+len(theirs) > 0 {
		var window int64
		switch {
		case len(theirs) == 0 || len(mine) > 0 && mine[0].window < theirs[0].window:
			window = mine[0].window
		default:
			window = theirs[0].window
		}
		var r round
		n := 0
		for n < len(mine) && mine[n].window == window {
			n++
		}
		r.mine, mine = mine[:n], mine[n:]
		need := int64(0)
		for n = 0; n < len(theirs) && theirs[n].window == window; n++ {
			if theirs[n].peer != s.Rank() {
				need += theirs[n].bytes
			}
		}
		r.theirs, theirs = theirs[:n], theirs[n:]
		room = max(room, need)
		rounds = append(rounds, r)
	}
	for i := range e.sets {
		if room > 0 && i < len(rounds) {
			e.sets[i] = s.Scratch(int(room))
		}
	}
	for i := range rounds {
		set := e.sets[i%2]
		for k := range rounds[i].theirs {
			p := &rounds[i].theirs[k]
			if p.peer == s.Rank() {
				p.data = e.a.Data[p.at:][:p.bytes]
				continue
			}
			p.data, set = set[:p.bytes:p.bytes], set[p.bytes:]
		}
		if len(rounds[i].theirs) > 0 && e.assembly == nil {
			e.assembly = s.Scratch(int(min(e.hints.Buffer, e.domain)))
		}
	}
	return rounds
}

// writeRounds sends this member's data to the aggregators, and writes what comes for its domain.
func (e *exchange) writeRounds(s comm.Stage, rounds []round) {
	ends := make([]int, len(rounds))
	start := func(i int) {
		for _, p := range rounds[i].mine {
			s.Send(p.peer, e.a.Data[p.at:][:p.bytes])
		}
		for _, p := range rounds[i].theirs {
			if p.peer != s.Rank() {
				s.Receive(p.peer, p.data)
			}
		}
		ends[i] = s.Started()
	}
	for i, r := range rounds {
		if i == 0 {
			start(0)
		}
		if i+1 < len(rounds) {
			start(i + 1)
		}
		if len(r.theirs) > 0 {
			s.WaitFor(ends[i])
			e.windowWritten(s, r.theirs)
		}
	}
}

// windowWritten adds the writing of a window, when its data is here.
func (e *exchange) windowWritten(s comm.Stage, pieces []piece) {
	if e.op == nil {
		s.Local(func() { e.writeWindow(pieces) })
		return
	}
	x := e.op.part(false, func(caller) (int64, []byte, error) {
		e.writeWindow(pieces)
		return 0, nil, failure(e.failed)
	})
	s.Once(x)
	s.Wait() // also for the next round's messages, which all start before they wait for this one
	s.Local(func() {
		_, _, err := e.f.outcome("write", x)
		e.failed = number(err)
	})
}

// windowRead adds the reading of a window in a job with replicas. It waits for all messages of
// earlier rounds, and so it comes before this round's receives: the others' aggregators do the
// same.
func (e *exchange) windowRead(s comm.Stage, pieces []piece) {
	x := e.op.part(true, func(caller) (int64, []byte, error) {
		e.readWindow(pieces)
		var data []byte
		for i := range pieces {
			data = append(data, pieces[i].data...)
		}
		return e.eof, data, failure(e.failed)
	})
	s.Wait()
	s.Once(x)
	s.Wait()
	s.Local(func() {
		n, data, err := e.f.outcome("read", x)
		e.eof, e.failed = n, number(err)
		for i := range pieces {
			if !x.Mine {
				clear(pieces[i].data[copy(pieces[i].data, data):])
			}
			data = data[min(len(data), len(pieces[i].data)):]
		}
	})
}

// failure is an error's number as an error.
func failure(n syscall.Errno) error {
	if n == 0 {
		return nil
	}
	return n
}

// readRounds reads what the members want of this one's domain, and receives this member's data.
func (e *exchange) readRounds(s comm.Stage, rounds []round) {
	ends := make([]int, len(rounds))
	for i, r := range rounds {
		if len(r.theirs) > 0 && e.op != nil {
			e.windowRead(s, r.theirs)
		}
		for _, p := range r.mine {
			s.Receive(p.peer, e.a.Data[p.at:][:p.bytes])
		}
		if len(r.theirs) > 0 {
			if e.op == nil {
				if i >= 2 {
					s.WaitFor(ends[i-2]) // its memory is used again
				}
				s.Local(func() { e.readWindow(r.theirs) })
			}
			for _, p := range r.theirs {
				if p.peer != s.Rank() {
					s.Send(p.peer, p.data)
				}
			}
		}
		ends[i] = s.Started()
	}
}
