package file

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"syscall"

	"banyan/internal/mpi/comm"
)

// exchange is one member's part in a collective access by two-phase I/O.
type exchange struct {
	f     *File
	a     *Access
	out   *Outcome
	hints Hints
	op    *operation // nil in a job without replicas
	runs  []Run      // of this member

	ranges      []Run // from the first to the last byte of each member
	lo, domain  int64 // where the domains begin, and the length of each
	aggregators []int
	index       int // of this member among them, or -1

	firsts [][]byte // by member: the beginning of its list of runs in my domain
	rests  [][]byte // by member: the rest
	lists  [][]Run  // by member: the runs

	sets     [2][]byte // data of other members, of even and of odd windows
	assembly []byte    // a window as it lies in the file
	failed   syscall.Errno
	eof      int64 // no byte of the file is behind
}

// headSize is the length of the first message of a list of runs: its length, and as much of it as
// fits. Most lists are short.
const headSize = 64

// statusSize is the length of what an aggregator says at the end: an error, and where the file
// ends.
const statusSize = 16

// Collective is an access of all members together. out is its outcome when the plan has ended.
func (f *File) Collective(a *Access, out *Outcome) *comm.Plan {
	e := &exchange{f: f, a: a, out: out, op: f.operation(), hints: *f.hints.Load(), eof: math.MaxInt64}
	return f.comm.Staged("Access", e.begin)
}

// begin tells all members where this one's bytes are.
func (e *exchange) begin(s comm.Stage) {
	e.runs, e.out.Err = e.a.View.Runs(e.a.Skip, int64(len(e.a.Data)))
	own, all := s.Scratch(16), s.Scratch(16*s.Size())
	clear(own)
	if n := len(e.runs); n > 0 {
		binary.LittleEndian.PutUint64(own, uint64(e.runs[0].Off))
		binary.LittleEndian.PutUint64(own[8:], uint64(e.runs[n-1].End()-e.runs[0].Off))
	}
	s.Allgather(own, all)
	s.Then(func(s comm.Stage) {
		e.ranges = make([]Run, s.Size())
		for r := range e.ranges {
			e.ranges[r] = Run{int64(binary.LittleEndian.Uint64(all[16*r:])), int64(binary.LittleEndian.Uint64(all[16*r+8:]))}
		}
		if e.alone() {
			switch {
			case e.out.Err != nil:
			case e.op != nil:
				e.op.parts(s, e.a, e.runs, e.out)
			default:
				*e.out = e.f.transfer(e.a, e.runs)
			}
			return
		}
		e.divide(s)
		e.sendLists(s)
	})
}

// alone tells whether each member does its own part. All members come to the same conclusion.
func (e *exchange) alone() bool {
	how := e.hints.Read
	if e.a.Write {
		how = e.hints.Write
	}
	if how == Disable || e.f.strict.Load() {
		return true
	}
	var taken []Run
	for _, r := range e.ranges {
		if r.Len > 0 {
			taken = append(taken, r)
		}
	}
	if len(taken) == 0 {
		return true
	}
	if how == Enable {
		return false
	}
	slices.SortFunc(taken, func(a, b Run) int {
		if a.Off < b.Off {
			return -1
		}
		return 1
	})
	for i, r := range taken[1:] {
		if r.Off < taken[i].End() {
			return false
		}
	}
	return true
}

// smallestDomain is the least that an aggregator is worth having for, and what domains begin at
// multiples of: pages of a file, and stripes of most file systems.
const smallestDomain = 64 << 10

// divide gives each aggregator its domain.
func (e *exchange) divide(s comm.Stage) {
	lo, hi := int64(math.MaxInt64), int64(0)
	for _, r := range e.ranges {
		if r.Len > 0 {
			lo, hi = min(lo, r.Off), max(hi, r.End())
		}
	}
	lo -= lo % smallestDomain
	n := int64(e.f.usual)
	if e.hints.Nodes > 0 {
		n = min(e.hints.Nodes, int64(len(e.f.aggregators)))
	}
	span := hi - lo
	n = min(n, (span-1)/smallestDomain+1)
	e.lo, e.domain = lo, (span-1)/n+1
	if over := e.domain % smallestDomain; over != 0 && e.domain < math.MaxInt64-smallestDomain {
		e.domain += smallestDomain - over
	}
	e.aggregators = e.f.aggregators[:n]
	e.index = slices.Index(e.aggregators, s.Rank())
}

// domainOf is the domain of an aggregator.
func (e *exchange) domainOf(i int) (from, end int64) {
	if int64(i) > (math.MaxInt64-e.lo)/e.domain {
		return math.MaxInt64, math.MaxInt64
	}
	from = e.lo + int64(i)*e.domain
	if end = math.MaxInt64; e.domain < end-from {
		end = from + e.domain
	}
	return from, end
}

// meets tells whether a member may have bytes in a domain: all members answer alike.
func (e *exchange) meets(member, aggregator int) bool {
	from, end := e.domainOf(aggregator)
	r := e.ranges[member]
	return r.Len > 0 && r.Off < end && r.End() > from
}

// inside is the part of ascending runs from one position to another.
func inside(runs []Run, from, end int64) (part []Run) {
	i, _ := slices.BinarySearchFunc(runs, from, func(r Run, at int64) int {
		if r.End() <= at {
			return -1
		}
		return 1
	})
	for ; i < len(runs) && runs[i].Off < end; i++ {
		off := max(runs[i].Off, from)
		part = append(part, Run{off, min(runs[i].End(), end) - off})
	}
	return part
}

// sendLists tells each aggregator which bytes of its domain this member has.
func (e *exchange) sendLists(s comm.Stage) {
	e.lists = make([][]Run, s.Size())
	var rests []func()
	for i, to := range e.aggregators {
		if !e.meets(s.Rank(), i) {
			continue
		}
		from, end := e.domainOf(i)
		part := inside(e.runs, from, end)
		if to == s.Rank() {
			e.lists[to] = part
			continue
		}
		list := encode(nil, part, from)
		head := s.Scratch(headSize)
		clear(head)
		binary.LittleEndian.PutUint64(head, uint64(len(list)))
		if n := copy(head[8:], list); n < len(list) {
			rests = append(rests, func() { s.Send(to, list[n:]) })
		}
		s.Send(to, head)
	}
	e.eachOther(s, func(member int) {
		if e.firsts == nil {
			e.firsts, e.rests = make([][]byte, s.Size()), make([][]byte, s.Size())
		}
		e.firsts[member] = s.Scratch(headSize)
		s.Receive(member, e.firsts[member])
	})
	s.Wait()
	s.Then(func(s comm.Stage) {
		for _, send := range rests {
			send()
		}
		e.eachOther(s, func(member int) {
			if n := binary.LittleEndian.Uint64(e.firsts[member]); n > headSize-8 {
				e.rests[member] = s.Scratch(int(n - (headSize - 8)))
				s.Receive(member, e.rests[member])
			}
		})
		s.Wait()
		s.Then(e.transferRounds)
	})
}

// eachOther calls visit for each other member that may have bytes in this one's domain.
func (e *exchange) eachOther(s comm.Stage, visit func(member int)) {
	if e.index < 0 {
		return
	}
	for member := range s.Size() {
		if member != s.Rank() && e.meets(member, e.index) {
			visit(member)
		}
	}
}

// readLists are the runs of the other members in this one's domain.
func (e *exchange) readLists(s comm.Stage) error {
	var failed error
	e.eachOther(s, func(member int) {
		from, end := e.domainOf(e.index)
		head := e.firsts[member]
		n := min(binary.LittleEndian.Uint64(head), headSize-8)
		runs, err := decode(append(slices.Clone(head[8:8+n]), e.rests[member]...), from, end)
		if err != nil {
			failed = fmt.Errorf("from rank %d: %w", member, err)
		}
		e.lists[member] = runs
	})
	return failed
}

// finish is the outcome, of what all aggregators say.
func (e *exchange) finish(s comm.Stage) {
	own := s.Scratch(statusSize)
	s.Local(func() {
		binary.LittleEndian.PutUint64(own, uint64(e.failed))
		binary.LittleEndian.PutUint64(own[8:], uint64(e.eof))
	})
	e.eachOther(s, func(member int) { s.Send(member, own) })
	var from []int
	var told [][]byte
	for i, aggregator := range e.aggregators {
		if !e.meets(s.Rank(), i) {
			continue
		}
		status := own
		if aggregator != s.Rank() {
			status = s.Scratch(statusSize)
			s.Receive(aggregator, status)
		}
		from, told = append(from, aggregator), append(told, status)
	}
	s.Wait()
	s.Then(func(comm.Stage) {
		if e.out.Err != nil {
			return
		}
		eof := int64(math.MaxInt64)
		for i, status := range told {
			if n := syscall.Errno(binary.LittleEndian.Uint64(status)); n != 0 {
				e.out.Err = fmt.Errorf("rank %d, which has this part of %s: %w", from[i], e.f.name, n)
				return
			}
			eof = min(eof, int64(binary.LittleEndian.Uint64(status[8:])))
		}
		e.out.N = int64(len(e.a.Data))
		if !e.a.Write {
			e.out.N = below(e.runs, eof)
		}
	})
}
