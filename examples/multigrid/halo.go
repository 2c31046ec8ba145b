package main

import "banyan/mpi"

// team stands for the ranks that solve one system.
type team struct {
	world      *mpi.Comm
	rank, size int
	anySource  bool
	// turn is the tag of the next exchange, alternately 0 and 1. A neighbour is at most one
	// exchange ahead, because it needs what we send in this one. So two tags tell its messages
	// apart in any order of arrival.
	turn int
}

func newTeam(world *mpi.Comm, anySource bool) *team {
	return &team{world: world, rank: world.Rank(), size: world.Size(), anySource: anySource}
}

// largest is the largest of all ranks' values.
func (t *team) largest(v float64) (float64, error) {
	all := make([]float64, 1)
	err := mpi.Allreduce(t.world, []float64{v}, all, mpi.Max)
	return all[0], err
}

// halo fills the layer around a block with the neighbours' points: those across faces, edges and
// corners, up to 26 messages of three very different lengths, which halve or quarter from grid to
// grid.
type halo struct {
	team       *team
	neighbours []neighbour
	of         map[int]*neighbour // by rank; no rank is a neighbour in two ways
	receives   []mpi.Request
	sends      []mpi.Request
}

// neighbour is an adjacent block.
type neighbour struct {
	rank     int
	own      region // our points that it needs
	beyond   region // its points that we need
	out      []float64
	received []float64 // as long as the longest message, if any neighbour's message may arrive in it
}

// region is a box in a level's arrays.
type region struct{ first, count point }

func (r region) points() int { return r.count[0] * r.count[1] * r.count[2] }

// newHalo finds the neighbours of a rank's block.
func newHalo(t *team, d decomposition, l *level) *halo {
	h := &halo{team: t, of: map[int]*neighbour{}}
	here := d.at(t.rank)
	most := 0
	for direction := range 27 {
		step := point{direction/9 - 1, direction/3%3 - 1, direction%3 - 1}
		rank := d.rank(point{here[0] + step[0], here[1] + step[1], here[2] + step[2]})
		if rank < 0 || rank == t.rank {
			continue
		}
		n := neighbour{rank: rank}
		for i, s := range step {
			n.own.count[i], n.beyond.count[i] = l.count[i], l.count[i]
			if s != 0 {
				n.own.count[i], n.beyond.count[i] = 1, 1
			}
			if s < 0 {
				n.beyond.first[i] = -1
			}
			if s > 0 {
				n.own.first[i], n.beyond.first[i] = l.count[i]-1, l.count[i]
			}
		}
		n.out = make([]float64, n.own.points())
		most = max(most, n.beyond.points())
		h.neighbours = append(h.neighbours, n)
	}
	for i := range h.neighbours {
		n := &h.neighbours[i]
		n.received = make([]float64, n.beyond.points())
		if t.anySource {
			n.received = make([]float64, most)
		}
		h.of[n.rank] = n
	}
	h.receives, h.sends = make([]mpi.Request, len(h.neighbours)), make([]mpi.Request, len(h.neighbours))
	return h
}

// exchange fills the halo of an array. The values of each neighbour have a region of their own, so
// the order in which messages are received with anySource has no effect.
func (h *halo) exchange(l *level, array []float64) error {
	t := h.team
	tag := t.turn
	t.turn = 1 - t.turn
	var err error
	for i := range h.neighbours {
		n := &h.neighbours[i]
		source := n.rank
		if t.anySource {
			source = mpi.AnySource
		}
		if h.receives[i], err = mpi.Irecv(t.world, n.received, source, tag); err != nil {
			return err
		}
	}
	for i := range h.neighbours {
		n := &h.neighbours[i]
		l.copy(n.own, array, n.out, false)
		if h.sends[i], err = mpi.Isend(t.world, n.out, n.rank, tag); err != nil {
			return err
		}
	}
	for i := range h.receives {
		status, err := h.receives[i].Wait()
		if err != nil {
			return err
		}
		l.copy(h.of[status.Source].beyond, array, h.neighbours[i].received, true)
	}
	for i := range h.sends {
		if _, err := h.sends[i].Wait(); err != nil {
			return err
		}
	}
	return nil
}

// copy copies a region of an array to a buffer, or back.
func (l *level) copy(r region, array, buffer []float64, back bool) {
	for x := range r.count[0] {
		for y := range r.count[1] {
			row := array[l.index(r.first[0]+x, r.first[1]+y, r.first[2]):][:r.count[2]]
			part := buffer[(x*r.count[1]+y)*r.count[2]:][:r.count[2]]
			if back {
				copy(row, part)
			} else {
				copy(part, row)
			}
		}
	}
}

// gather collects a grid at every rank.
type gather struct {
	team   *team
	blocks []block // of all ranks
	counts []int   // numbers of their points
}

// collect copies an array of the divided level to an array of the level that is whole.
func (g *gather) collect(from, to *level, array, all []float64) error {
	own := make([]float64, from.points())
	from.copy(region{count: from.count}, array, own, false)
	total := 0
	for _, n := range g.counts {
		total += n
	}
	parts := make([]float64, total)
	if err := mpi.Allgatherv(g.team.world, own, parts, g.counts); err != nil {
		return err
	}
	for i, b := range g.blocks {
		to.copy(region(b), all, parts[:g.counts[i]], true)
		parts = parts[g.counts[i]:]
	}
	return nil
}
