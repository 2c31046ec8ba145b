package correctedtrees

import (
	"context"
	"math"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/topology"
)

// Opportunistic Corrected Gossip is safe if its corrections fill every gap that gossip leaves. The
// process at one end of a gap fills it from the left, that at the other end from the right, and
// those in the gap send nothing. So a gap is filled if it isn't longer than the number of
// corrections that a process sends, whichever way they go. A run of gossip alone tells which time
// is enough for each number of corrections: the shortest with which no gap is longer.
//
// Nothing delays the first message that a process receives. So one that is coloured at t was sent
// to at t − (2o + L), and what happens until then doesn't depend on the time at which gossip will
// end. So one long gossip shows whom each shorter one with its seed would have coloured.
// TestGossipSafety compares all of this with the engine.

// gossipCorrections are the numbers of corrections of a process that are looked at: one, in one
// direction, as in the caption of figure 6; one in each; and as many as distances say.
var gossipCorrections = [...]int{1, 2, 4, 8}

// takes is how long a message takes that doesn't wait.
const takes = 2*overhead + latency

// gossipSafety is what runs of gossip alone told. No process is dead.
type gossipSafety struct {
	procs int
	until int // the time for which all of them gossiped, beyond what any but a few need
	runs  []gossipRun
}

// gossipRun is one of them.
type gossipRun struct {
	Needs [len(gossipCorrections)]int32 // for each of gossipCorrections the shortest safe time
	Left  []int32                       // for each time up to until, by its place: how many processes it leaves uncoloured
}

// studyGossipSafety gossips with the seeds from one on.
func (e *experiment) studyGossipSafety(ctx context.Context, step string, procs, runs int, seed uint64) (*gossipSafety, error) {
	found := gossipSafety{procs: procs}
	workers := make([]gossipWorker, e.Workers)
	for i := range workers {
		if err := workers[i].init(procs); err != nil {
			return nil, err
		}
	}
	until := int(2 * math.Log2(float64(procs)))
	first, err := workers[0].run(until, seed)
	if err != nil {
		return nil, err
	}
	const margin = 6 // a run that needs more takes another one
	found.until = int(first.Needs[0]) + margin
	found.runs, err = each(ctx, e, step, runs, func(worker, i int) (gossipRun, error) {
		return workers[worker].run(found.until, seed+uint64(i))
	})
	return &found, err
}

// gossipWorker runs gossip after gossip: the machines of the engine, without a network, since only
// the first message to a process counts.
type gossipWorker struct {
	config broadcast.Config
	states []broadcast.State
	sentAt []int32 // when each process was sent to first; then the same of each window of the ring
}

// never is later than every time.
const never = math.MaxInt32

func (w *gossipWorker) init(procs int) (err error) {
	w.config.Tree, err = topology.Binomial(procs, topology.Interleaved) // of any shape, for gossip
	w.states = make([]broadcast.State, procs)
	return err
}

// run gossips for a time, and if that isn't enough, longer.
func (w *gossipWorker) run(until int, seed uint64) (gossipRun, error) {
	var r gossipRun
	for longer := until; ; longer += 4 {
		w.config.Gossip = broadcast.Gossip{Until: proto.Time(longer), Seed: seed}
		if err := w.config.Validate(); err != nil {
			return r, err
		}
		w.gossip(int32(longer))
		if r.Left == nil {
			r.Left = w.left(until)
		}
		if w.needs(&r.Needs) {
			return r, nil
		}
	}
}

// gossip finds when each process was sent to first.
func (w *gossipWorker) gossip(until int32) {
	procs := len(w.states)
	w.sentAt = w.sentAt[:0]
	for p := range w.states {
		w.config.Start(&w.states[p], p)
		w.sentAt = append(w.sentAt, never)
	}
	w.sentAt[0] = -takes
	for now := int32(0); now < until; now++ {
		for p := range procs {
			at := w.sentAt[p]
			if at > now-takes {
				continue
			}
			if at == now-takes && p > 0 {
				w.config.Receive(&w.states[p], 0, broadcast.KindGossip) // from whomever: gossip doesn't mind
			}
			if to, _, ok := w.config.SendReady(&w.states[p], proto.Time(now)); ok && w.sentAt[to] == never {
				w.sentAt[to] = now
			}
		}
	}
}

// left counts the processes that each time up to one leaves uncoloured.
func (w *gossipWorker) left(until int) []int32 {
	left := make([]int32, until+1)
	for _, t := range w.sentAt {
		if t >= 0 {
			left[min(int(t), until)]++ // sent to at t, so a time of t isn't enough
		}
	}
	for t := until; t > 0; t-- {
		left[t-1] += left[t]
	}
	return left
}

// needs finds the times with which no gap is longer than the corrections of a process: those at
// which in all windows of the ring, longer by one, a process has been sent to. It is false if there
// was no such time.
func (w *gossipWorker) needs(needs *[len(gossipCorrections)]int32) bool {
	most := gossipCorrections[len(gossipCorrections)-1]
	for i := range most { // so that no window goes round the end
		w.sentAt = append(w.sentAt, w.sentAt[i])
	}
	width := 1
	for k, corrections := range gossipCorrections {
		grow := corrections + 1 - width // no more than the width
		width += grow
		latest := int32(0)
		for p := range len(w.sentAt) - width + 1 {
			w.sentAt[p] = min(w.sentAt[p], w.sentAt[p+grow])
			if p < len(w.states) {
				latest = max(latest, w.sentAt[p])
			}
		}
		if latest == never {
			return false
		}
		needs[k] = latest + 1
	}
	return true
}

// safe is the shortest time with which no run leaves anybody uncoloured, with a number of
// corrections by its place.
func (s *gossipSafety) safe(corrections int) int {
	longest := int32(1)
	for i := range s.runs {
		longest = max(longest, s.runs[i].Needs[corrections])
	}
	return int(longest)
}

// unsafe counts the runs that a time leaves with somebody uncoloured.
func (s *gossipSafety) unsafe(corrections, time int) int {
	n := 0
	for i := range s.runs {
		if int(s.runs[i].Needs[corrections]) > time {
			n++
		}
	}
	return n
}

// expected is how many of the runs a time would leave with somebody uncoloured, were those that
// gossip leaves anywhere on the ring: a run with n of them among P processes has on average
// P · n/P · (n−1)/(P−1) · … gaps of so many.
func (s *gossipSafety) expected(corrections, time int) float64 {
	sum := 0.0
	for i := range s.runs {
		left := float64(s.runs[i].Left[time])
		gaps := float64(s.procs)
		for k := range gossipCorrections[corrections] + 1 {
			gaps *= max(0, left-float64(k)) / float64(s.procs-k)
		}
		sum += -math.Expm1(-gaps)
	}
	return sum
}

// extrapolated is the shortest time with which so many runs would, as likely as not, all leave
// nobody uncoloured. Beyond the time of the runs, each step reaches all but 1/e of those that are
// left, since there are as many messages as processes.
func (s *gossipSafety) extrapolated(corrections, runs int) int {
	share := float64(runs) / float64(len(s.runs))
	for time := 1; time <= s.until; time++ {
		if s.expected(corrections, time)*share < math.Ln2 {
			return time
		}
	}
	beyond := math.Log(s.expected(corrections, s.until)*share/math.Ln2) * overhead / float64(gossipCorrections[corrections]+1)
	return s.until + int(math.Ceil(beyond))
}

// messages is how many messages a process sends on average with a gossip time, and so many
// corrections of each process that gossip has reached.
func (s *gossipSafety) messages(corrections, time int) float64 {
	sum := 0
	for i := range s.runs {
		left := s.runs[i].Left
		for now := range time { // everybody that is coloured sends
			if now < takes {
				sum++
			} else {
				sum += s.procs - int(left[min(now-takes+1, s.until)])
			}
		}
		sum += corrections * (s.procs - int(left[min(time, s.until)]))
	}
	return float64(sum) / float64(len(s.runs)) / float64(s.procs)
}
