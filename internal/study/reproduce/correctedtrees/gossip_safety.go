package correctedtrees

import (
	"context"
	"math"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
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
		workers[i].init(procs)
	}
	until := int(2 * math.Log2(float64(procs)))
	const margin = 6 // a run that needs more takes another one
	found.until = int(workers[0].run(until, seed).Needs[0]) + margin
	var err error
	found.runs, err = each(ctx, e, step, runs, func(worker, i int) (gossipRun, error) {
		return workers[worker].run(found.until, seed+uint64(i)), nil
	})
	return &found, err
}

// gossipWorker runs gossip after gossip, without a network or machines: only the first message to
// a process counts, and whom each message goes to.
type gossipWorker struct {
	procs  int
	sentAt []int32  // when each process was sent to first; then the same of each window of the ring
	never  []uint64 // a bit for each process that wasn't sent to
	order  []sender // the processes that were, in the order of time
}

// sender is a process, and when it sends its first message.
type sender struct{ process, from int32 }

// never is later than every time.
const never = math.MaxInt32

func (w *gossipWorker) init(procs int) {
	w.procs = procs
	w.never = make([]uint64, (procs+63)/64)
}

// run gossips for a time, and if that isn't enough, longer.
func (w *gossipWorker) run(until int, seed uint64) gossipRun {
	var r gossipRun
	for longer := until; ; longer += 4 {
		w.gossip(int32(longer), broadcast.Gossip{Until: proto.Time(longer), Seed: seed})
		if r.Left == nil {
			r.Left = w.left(until)
		}
		if w.needs(&r.Needs) {
			return r
		}
	}
}

// gossip finds when each process was sent to first.
func (w *gossipWorker) gossip(until int32, g broadcast.Gossip) {
	receivers := g.Receivers(w.procs)
	w.sentAt = w.sentAt[:0]
	for range w.procs {
		w.sentAt = append(w.sentAt, never)
	}
	for i := range w.never {
		w.never[i] = ^uint64(0)
	}
	sentTo := func(p, now int32) {
		w.sentAt[p] = now
		w.never[p/64] &^= 1 << (p % 64)
		w.order = append(w.order, sender{p, now + takes})
	}
	w.order = w.order[:0]
	sentTo(0, -takes)
	coloured := 0 // how many of order send
	for now := int32(0); now < until && len(w.order) < w.procs; now++ {
		for coloured < len(w.order) && w.order[coloured].from <= now {
			coloured++
		}
		for _, s := range w.order[:coloured] {
			to := receivers.Of(s.process, now-s.from+1)
			if w.never[to/64]&(1<<(to%64)) != 0 {
				sentTo(to, now)
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
			if p < w.procs {
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
// P · n/P · (n−1)/(P−1) · … · (P−n)/(P−c−1) gaps of more than c. The last factor is the process
// that ends the gap: without it a gap of c+2 would count twice. Where gossip reaches so few that
// gaps of c between them don't hold the rest, one is longer for certain.
func (s *gossipSafety) expected(corrections, time int) float64 {
	sum := 0.0
	for i := range s.runs {
		left := float64(s.runs[i].Left[time])
		longer := gossipCorrections[corrections] + 1
		gaps := float64(s.procs)
		for k := range longer {
			gaps *= max(0, left-float64(k)) / float64(s.procs-k)
		}
		reached := float64(s.procs) - left
		gaps *= reached / float64(s.procs-longer)
		if left > reached*float64(longer-1) {
			gaps = math.Inf(1)
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
