package main

import (
	"encoding/binary"
	"errors"
	"hash/fnv"
	"math"
	"slices"

	"banyan/mpi"
)

// problem is what is computed, and how often copies are made.
type problem struct{ cells, steps, every int }

// result is what the rod has come to.
type result struct {
	heat        float64
	hash        uint64 // of all cells
	rank, ranks int    // in the last communicator; 0 ranks: this one was a spare to the end
}

// copies are what a rank keeps: its own part of the rod and that of its left neighbour, at a step.
type copies struct {
	step      int
	members   []int // among whom the rod was shared, as ranks of the world; nil: there are no copies
	own, left []float64
}

// solver is one rank's part of the computation.
type solver struct {
	problem
	pool *mpi.Comm // of all that live, the spares at the end
	comm *mpi.Comm // of those that compute; nil: this rank is a spare
	most int       // ranks at first
	part []float64 // with a cell of each neighbour at the ends
	next []float64
	step int
	kept copies
}

// solve computes on all ranks of a communicator that live. each is called before each step, with
// the step and the rank in world.
func (p problem) solve(world *mpi.Comm, each func(step, rank int)) (result, error) {
	s := &solver{problem: p, pool: world, comm: world, most: world.Size()}
	rod := make([]float64, p.cells)
	for i := range rod {
		rod[i] = 100 * math.Sin(float64(i)/17)
	}
	if world.Spares() == 0 {
		s.take(rod)
	} else if over, err := s.recover(rod, false); err != nil || over {
		return result{}, err
	}
	for {
		err := s.save()
		if err == nil && s.step == p.steps {
			var r result
			if r, err = s.sum(); err == nil {
				return r, s.release(rod)
			}
		}
		if err == nil {
			s.advance(func(step int) { each(step, world.Rank()) })
			continue
		}
		if over, err := s.recover(rod, false); err != nil || over {
			return result{}, err
		}
	}
}

// release lets the spares go: they wait in recover.
func (s *solver) release(rod []float64) error {
	if s.pool.Spares() == 0 {
		return nil
	}
	_, err := s.recover(rod, true)
	return err
}

// block is the first cell of a rank's part, and how many it has.
func (p problem) block(rank, ranks int) (first, cells int) {
	first = p.cells * rank / ranks
	return first, p.cells*(rank+1)/ranks - first
}

// take takes this rank's part of a rod.
func (s *solver) take(rod []float64) {
	first, n := s.block(s.comm.Rank(), s.comm.Size())
	s.part, s.next = make([]float64, n+2), make([]float64, n+2)
	copy(s.part[1:], rod[first:first+n])
}

// advance makes the steps up to the next copies. If it fails it revokes the communicator, so that
// no neighbour waits for this rank; the next agreement tells all.
func (s *solver) advance(each func(step int)) {
	left, right := s.comm.Rank()-1, s.comm.Rank()+1
	for range min(s.every, s.steps-s.step) {
		each(s.step)
		if err := s.swap(left, right); err != nil {
			s.comm.Revoke()
			return
		}
		for i := 1; i < len(s.part)-1; i++ {
			s.next[i] = s.part[i] + 0.25*(s.part[i-1]-2*s.part[i]+s.part[i+1])
		}
		s.part, s.next = s.next, s.part
		s.step++
	}
}

// swap gets the cells beside this rank's part. The ends of the rod are kept at 0.
func (s *solver) swap(left, right int) error {
	n := len(s.part)
	s.part[0], s.part[n-1] = 0, 0
	requests := make([]mpi.Request, 0, 4)
	start := func(r mpi.Request, err error) error {
		requests = append(requests, r)
		return err
	}
	var errs []error
	if left >= 0 {
		errs = append(errs, start(mpi.Irecv(s.comm, s.part[:1], left, 1)), start(mpi.Isend(s.comm, s.part[1:2], left, 2)))
	}
	if right < s.comm.Size() {
		errs = append(errs, start(mpi.Irecv(s.comm, s.part[n-1:], right, 2)), start(mpi.Isend(s.comm, s.part[n-2:n-1], right, 1)))
	}
	all := make([]*mpi.Request, len(requests))
	for i := range requests {
		all[i] = &requests[i]
	}
	return errors.Join(append(errs, mpi.WaitAll(all...))...)
}

// save makes copies of all parts, at the buddies too. They count only if all ranks agree that they
// have been made: until then the copies before are kept.
func (s *solver) save() error {
	ranks, rank := s.comm.Size(), s.comm.Rank()
	buddy, other := (rank+1)%ranks, (rank+ranks-1)%ranks
	_, n := s.block(other, ranks)
	made := copies{s.step, s.comm.WorldRanks(), slices.Clone(s.part[1 : len(s.part)-1]), make([]float64, n)}
	_, err := mpi.Sendrecv(s.comm, made.own, buddy, 3, made.left, other, 3)
	if err = together(s.comm, err); err == nil {
		s.kept = made
	}
	return err
}

// together tells all ranks of a communicator whether all have succeeded in what they did: it
// returns an error at all, or at none. What they do next they do together, or not at all. Each call
// that may fail at one rank and succeed at another needs it before ranks part.
func together(c *mpi.Comm, err error) error {
	well := uint32(1)
	if err != nil {
		well = 0
		c.Revoke() // others may wait for this rank
	}
	well, err = c.Agree(well)
	if err == nil && well == 0 {
		err = mpi.ErrRevoked
	}
	return err
}

// recover goes on without the dead, from the last copies, or from the start if there are none.
// Spares take the ranks of the dead, and wait here until they can, or until one that has finished
// says that all is over.
func (s *solver) recover(start []float64, finished bool) (over bool, err error) {
	for {
		if s.comm != nil {
			if err := s.comm.Revoke(); err != nil {
				return false, err
			}
		}
		pool, err := s.pool.Refill()
		if err != nil {
			return false, err
		}
		s.pool = pool
		over, err := s.assign(finished)
		if err == nil && over {
			return true, nil
		}
		if err == nil && s.comm == nil {
			continue // the next refill may need this one
		}
		if err == nil {
			rod := start
			if s.kept.members != nil {
				rod, err = s.collect()
			}
			if err == nil {
				s.step = s.kept.step
				s.take(rod)
				return false, nil
			}
		}
		if !errors.Is(err, mpi.ErrProcFailed) && !errors.Is(err, mpi.ErrRevoked) {
			return false, err
		}
	}
}

// assign makes the communicator of those that compute, and tells those that were spares of the last
// copies. All get an error or none. over says that a rank has finished.
func (s *solver) assign(finished bool) (over bool, err error) {
	mine, all := make([]int, 2+s.most), make([]int, 2+s.most)
	if finished {
		mine[0] = 1
	}
	if s.kept.own != nil { // what others have told this rank may be old
		mine[1] = s.kept.step
		for i, m := range s.kept.members {
			mine[2+i] = m + 1
		}
	}
	colour := 0
	if s.pool.Rank() >= s.pool.Size()-s.pool.Spares() {
		colour = mpi.Undefined
	}
	s.comm = nil
	err = mpi.Allreduce(s.pool, mine, all, mpi.Max)
	if err == nil {
		s.comm, err = s.pool.Split(colour, 0)
	}
	if err = together(s.pool, err); err != nil {
		return false, err
	}
	s.kept.step, s.kept.members = all[1], nil
	for _, m := range all[2:] {
		if m > 0 {
			s.kept.members = append(s.kept.members, m-1)
		}
	}
	return all[0] == 1, nil
}

// collect puts the rod together from the copies that the live ranks have. Each part comes from the
// rank that had it, or from its buddy. All get an error or none.
func (s *solver) collect() ([]float64, error) {
	members, ranks := s.kept.members, len(s.kept.members)
	live := s.comm.WorldRanks()
	counts := make([]int, len(live))
	var mine []float64
	var order []int // the parts, in the order in which they come
	gives := func(r, part int, data []float64) {
		order = append(order, part)
		_, n := s.block(part, ranks)
		counts[r] += n
		if r == s.comm.Rank() {
			mine = append(mine, data...)
		}
	}
	for r, member := range live {
		part := slices.Index(members, member)
		if part < 0 {
			continue // it was a spare
		}
		gives(r, part, s.kept.own)
		if before := (part + ranks - 1) % ranks; !slices.Contains(live, members[before]) {
			gives(r, before, s.kept.left)
		}
	}
	if len(order) < ranks {
		return nil, errLost
	}
	parts := make([]float64, s.cells)
	if err := together(s.comm, mpi.Allgatherv(s.comm, mine, parts, counts)); err != nil {
		return nil, err
	}
	rod := make([]float64, s.cells)
	for _, part := range order {
		first, n := s.block(part, ranks)
		copy(rod[first:], parts[:n])
		parts = parts[n:]
	}
	return rod, nil
}

// errLost is the end: no copy of a part is left.
var errLost = errors.New("a rank and its buddy have died since the last copies: a part of the rod is lost")

// sum is the result, at all ranks that live, or an error at all.
func (s *solver) sum() (result, error) {
	counts := make([]int, s.comm.Size())
	for r := range counts {
		_, counts[r] = s.block(r, s.comm.Size())
	}
	rod := make([]float64, s.cells)
	err := together(s.comm, mpi.Allgatherv(s.comm, s.part[1:len(s.part)-1], rod, counts))
	r := result{rank: s.comm.Rank(), ranks: s.comm.Size()}
	hash := fnv.New64a()
	for _, x := range rod {
		r.heat += x
		hash.Write(binary.LittleEndian.AppendUint64(nil, math.Float64bits(x)))
	}
	r.hash = hash.Sum64()
	return r, err
}
