package replication

import (
	"context"
	"fmt"
	"sync"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/study/driver/loggp"
	"banyan/internal/study/field"
	"banyan/internal/study/parallel"
	"banyan/internal/study/replication/pattern"
)

// job is what the processes of a simulated job share. It doesn't change while they run, but for
// the ranks lost.
type job struct {
	settings   Settings
	pattern    *pattern.Pattern
	layout     layout.Layout
	replicated bool
	stampSize  int64 // of a message on the wire
	crashes    *crashes
	// sent, in tests, is told of each frame, and when it arrives.
	sent func(at proto.Time, from, to proto.Proc, k kind, size int64)

	lock      sync.Mutex // of what follows
	snapshots map[proto.Proc]*snapshot
	lostRank  proto.Rank
	lostAt    proto.Time
}

// lost notes that all replicas of a rank are dead.
func (j *job) lost(r proto.Rank, at proto.Time) {
	j.lock.Lock()
	defer j.lock.Unlock()
	if j.lostAt == proto.Never || at < j.lostAt || at == j.lostAt && r < j.lostRank {
		j.lostRank, j.lostAt = r, at
	}
}

// Run simulates a job on so many cores; its outcome doesn't depend on how many. progress, if not
// nil, is told how many frames have been sent. The errors about settings are of package field.
func Run(ctx context.Context, s Settings, workers int, progress func(frames int64)) (*Outcome, error) {
	j, nodes, err := newJob(s, workers)
	if err != nil {
		return nil, err
	}
	list := make([]loggp.Node[body], len(nodes))
	for i, n := range nodes {
		list[i] = n
	}
	if s.Healing.After > 0 {
		list = append(list, &launcher{job: j, nodes: nodes, dead: map[proto.Proc]bool{}})
	}
	network := loggp.New(s.Costs.Model, list, workers)
	if err := network.Run(ctx, func(_ proto.Time, frames int64) {
		if progress != nil {
			progress(frames)
		}
	}); err != nil {
		return nil, err
	}
	return j.outcome(nodes)
}

func newJob(s Settings, workers int) (*job, []*node, error) {
	if err := s.Validate(); err != nil {
		return nil, nil, err
	}
	p, err := pattern.New(s.Pattern)
	if err != nil {
		return nil, nil, err
	}
	j := &job{settings: s, pattern: p, layout: layout.Uniform(s.Pattern.Ranks, s.Degree), replicated: s.Degree > 1, lostAt: proto.Never, snapshots: map[proto.Proc]*snapshot{}}
	if j.replicated && !s.NoStamps {
		j.stampSize = stampEntry * int64(s.Pattern.Ranks)
	}
	for _, e := range s.Crashes {
		if e.Rank >= s.Pattern.Ranks || e.Replica >= s.Degree {
			return nil, nil, field.Errorf("crash", "%v: there is no such process", e)
		}
	}
	j.crashes = newCrashes(j.layout, s.Crashes)
	partners, err := p.Partners(maxPairs / s.Degree)
	if err != nil {
		return nil, nil, err
	}
	nodes := make([]*node, j.layout.Procs())
	_ = parallel.Each(context.Background(), len(partners)/chunk+1, workers, nil, func(_, i int) error {
		for r := i * chunk; r < min((i+1)*chunk, len(partners)); r++ {
			j.newNodes(nodes, proto.Rank(r), partners[r])
		}
		return nil
	})
	return j, nodes, nil
}

// chunk is how many ranks are made at a time.
const chunk = 1024

// newNodes makes the replicas of a rank.
func (j *job) newNodes(nodes []*node, r proto.Rank, partners []proto.Rank) {
	around := newNeighbourhood(r, partners, j.layout.Ranks())
	for replica := range j.settings.Degree {
		self := j.layout.Proc(r, replica)
		n := newNode(j, self, around)
		if j.crashes != nil {
			if at, ok := j.crashes.at[self]; ok {
				n.dies = proto.Time(at)
			}
		}
		nodes[self] = n
	}
}

// Lost is the error of a job that ended because all replicas of a rank died.
type Lost struct {
	Rank proto.Rank
	At   proto.Time // of the last death
}

func (e *Lost) Error() string {
	return fmt.Sprintf("%v lost its last replica %.6g s after the start: the job ends", e.Rank, float64(e.At)*1e-9)
}
