package replica

import "banyan/internal/proto"

// MaxDegree is the largest number of replicas of a rank: sets of replicas are
// the bits of a word.
const MaxDegree = 64

// Layout says which process is which replica of which rank: process
// replica·Ranks + rank, so that replica 0 of every rank comes first.
type Layout struct {
	Ranks  int // logical ranks, at least 1
	Degree int // replicas of each rank, 1…MaxDegree
}

// Procs is the number of physical processes.
func (l Layout) Procs() int { return l.Ranks * l.Degree }

// Proc is the process that runs the given replica of rank r.
func (l Layout) Proc(r proto.Rank, replica int) proto.Proc {
	return proto.Proc(replica*l.Ranks + int(r))
}

// Rank is the rank that process p runs.
func (l Layout) Rank(p proto.Proc) proto.Rank { return proto.Rank(int(p) % l.Ranks) }

// Replica is the index of process p among the replicas of its rank.
func (l Layout) Replica(p proto.Proc) int { return int(p) / l.Ranks }

// holds says whether p is a process of the layout.
func (l Layout) holds(p proto.Proc) bool { return p >= 0 && int(p) < l.Procs() }

// replicas is a set of replicas of one rank, bit i for replica i.
type replicas uint64

func only(replica int) replicas { return 1 << replica }

// all is the set of all replicas of a rank.
func (l Layout) all() replicas { return ^replicas(0) >> (MaxDegree - l.Degree) }
