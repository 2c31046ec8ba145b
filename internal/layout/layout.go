// Package layout says which process is which replica of which rank, once for the whole module. A
// process is a proto.Proc, what runs in it a proto.Rank; only a Layout maps one to the other. Each
// pair of a rank and a replica's index is a replica slot. It keeps its Proc as long as the job
// runs; the processes that fill it one after the other are its incarnations.
//
// It is arithmetic, immutable and without limits but MaxDegree.
package layout

import (
	"fmt"
	"slices"

	"banyan/internal/proto"
)

// MaxDegree is the largest number of replicas of a rank: sets of replicas are
// the bits of a word.
const MaxDegree = 64

// Layout says which process is which replica of which rank. Processes are
// numbered by replica, then by rank: first the replica 0 of every rank, then the
// replica 1 of every rank that has one, and so on. If all ranks have the same
// degree, process replica·Ranks + rank is that replica of that rank.
//
// The zero Layout has no ranks. Layouts are immutable, and may be copied.
type Layout struct {
	ranks, procs, degree int      // degree: the largest
	partial              *partial // nil if all ranks have the same degree
}

// partial are the tables of a layout whose ranks differ in degree.
type partial struct {
	degrees   []uint8        // by rank
	ranks     []proto.Rank   // by process
	replicas  []uint8        // by process
	processes [][]proto.Proc // by rank, then replica
}

// Uniform is the layout in which every rank has the same number of replicas,
// 1…MaxDegree. It panics if there are no ranks, or no such number.
func Uniform(ranks, degree int) Layout {
	if ranks < 1 || degree < 1 || degree > MaxDegree {
		panic(fmt.Sprintf("layout: no layout has %d ranks of degree %d", ranks, degree))
	}
	return Layout{ranks: ranks, procs: ranks * degree, degree: degree}
}

// Partial is the layout in which rank i has degrees[i] replicas. It panics as
// Uniform does.
func Partial(degrees []int) Layout {
	if len(degrees) == 0 {
		panic("layout: no layout has no ranks")
	}
	largest := slices.Max(degrees)
	l := Uniform(len(degrees), largest)
	if slices.Min(degrees) == largest {
		return l
	}
	t := &partial{processes: make([][]proto.Proc, len(degrees))}
	for rank, degree := range degrees {
		Uniform(1, degree) // checks it
		t.degrees = append(t.degrees, uint8(degree))
		t.processes[rank] = make([]proto.Proc, degree)
	}
	for replica := range largest {
		for rank, degree := range degrees {
			if replica < degree {
				t.processes[rank][replica] = proto.Proc(len(t.ranks))
				t.ranks = append(t.ranks, proto.Rank(rank))
				t.replicas = append(t.replicas, uint8(replica))
			}
		}
	}
	l.procs, l.partial = len(t.ranks), t
	return l
}

// Ranks is the number of logical ranks.
func (l Layout) Ranks() int { return l.ranks }

// Procs is the number of physical processes.
func (l Layout) Procs() int { return l.procs }

// Degree is the number of replicas of rank r.
func (l Layout) Degree(r proto.Rank) int {
	if l.partial != nil {
		return int(l.partial.degrees[r])
	}
	return l.degree
}

// MaxDegree is the number of replicas of the ranks that have most.
func (l Layout) MaxDegree() int { return l.degree }

// Replicated says whether some rank has several replicas.
func (l Layout) Replicated() bool { return l.degree > 1 }

// AllReplicated tells whether every rank has several replicas.
func (l Layout) AllReplicated() bool {
	return l.degree > 1 && (l.partial == nil || slices.Min(l.partial.degrees) > 1)
}

// Proc is the process that runs the given replica of rank r, which must have
// that many.
func (l Layout) Proc(r proto.Rank, replica int) proto.Proc {
	if l.partial != nil {
		return l.partial.processes[r][replica]
	}
	return proto.Proc(replica*l.ranks + int(r))
}

// Rank is the rank that process p runs.
func (l Layout) Rank(p proto.Proc) proto.Rank {
	if l.partial != nil {
		return l.partial.ranks[p]
	}
	return proto.Rank(int(p) % l.ranks)
}

// Replica is the index of process p among the replicas of its rank.
func (l Layout) Replica(p proto.Proc) int {
	if l.partial != nil {
		return int(l.partial.replicas[p])
	}
	return int(p) / l.ranks
}

// Slot is a replica slot: the Rank and the Replica of a process.
type Slot struct {
	Rank    proto.Rank
	Replica uint8
}

// Slots are the slots of all processes, by Proc. A machine keeps the table, because each message
// asks for one slot, and a division takes longer than a look-up.
func (l Layout) Slots() []Slot {
	all := make([]Slot, l.procs)
	for p := range all {
		all[p] = Slot{l.Rank(proto.Proc(p)), uint8(l.Replica(proto.Proc(p)))}
	}
	return all
}

// String lists the degrees.
func (l Layout) String() string {
	if l.partial == nil {
		return fmt.Sprintf("%d ranks of degree %d", l.ranks, l.degree)
	}
	return fmt.Sprintf("ranks of degrees %v", l.partial.degrees)
}

// Holds says whether p is a process of the layout.
func (l Layout) Holds(p proto.Proc) bool { return p >= 0 && int(p) < l.procs }
