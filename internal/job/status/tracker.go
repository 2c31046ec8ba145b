package status

import (
	"math"
	"slices"

	"banyan/internal/proto"
)

// Observation is what the launcher sees of a job at one time.
type Observation struct {
	At    proto.Time // nanoseconds since the start
	Hosts []Host
	// Slots have no Since and no Counters.
	Slots []Slot
	// News is what happened since the last Observation, in order, without Number and Set.
	News []Event
	// Over says how the job has ended. nil: it runs.
	Over *Over
}

// Sample is what one process has counted.
type Sample struct {
	Process     int
	Incarnation int
	// Stamp changes whenever the process writes its counters.
	Stamp    uint64
	Counters Counters
}

// silentAfter is how long a process counts nothing before it is shown as silent. It writes a few
// times a second, while it waits only as often as it sends heartbeats, and it may have to wait for
// a core.
const silentAfter = proto.Time(2500e6)

// Tracker makes a State of what the launcher sees.
type Tracker struct {
	state  State
	number uint64
	latest Seconds // of all events
	// told is what the events so far say of the slots.
	told  []Change
	heard []heard // by process
	last  proto.Time
	// patience is silentAfter, or some heartbeats.
	patience proto.Time
	sums     Totals // at last
	pace     pace
	// known are events that another Tracker has told, by what they say: see Continue.
	known map[[2]string]int
}

// heard is when a process has counted last.
type heard struct {
	stamp       uint64
	incarnation int
	at          proto.Time
	known       bool
}

// NewTracker makes a Tracker of a job of which nothing was seen yet.
func NewTracker(job Job) *Tracker {
	return &Tracker{patience: max(silentAfter, proto.Time(5e9*job.HeartbeatPeriod)), state: State{
		Format: Format, Job: job, Hosts: []Host{}, Slots: []Slot{}, Rates: []Rate{}, Base: []Change{}, Events: []Event{},
		Survives: Survival{Unprotected: []int{}, Lost: []int{}},
	}}
}

// State is what is known now. Its lists are the Tracker's, until the next call.
func (t *Tracker) State() *State { return &t.state }

// SetAddresses says where the job can be watched.
func (t *Tracker) SetAddresses(all []Place) { t.state.Addresses = slices.Clone(all) }

// Observe takes what the launcher sees, and returns the events that this makes.
func (t *Tracker) Observe(o *Observation) []Event {
	s := &t.state
	s.At, s.Over = seconds(o.At), o.Over
	s.Hosts = append(s.Hosts[:0:0], o.Hosts...)
	first := len(s.Slots) == 0
	for len(s.Slots) < len(o.Slots) {
		s.Slots = append(s.Slots, Slot{})
	}
	t.heard = append(t.heard, make([]heard, len(s.Slots)-len(t.heard))...)
	for i, now := range o.Slots {
		was := &s.Slots[i]
		if now.State == Live && t.silent(i, now.Incarnation, o.At) {
			now.State = Silent
		}
		if now.Since, now.Counters = was.Since, was.Counters; now.State != was.State || now.Incarnation != was.Incarnation {
			now.Since = s.At
		}
		if now.Incarnation != was.Incarnation {
			now.Counters = nil
		}
		*was = now
	}
	news := t.unknown(o.News)
	changes := t.changes()
	switch {
	case first:
		news = slices.Insert(news, 0, Event{At: 0, Kind: KindStart, Text: "the job has started"})
	case len(news) == 0 && len(changes) > 0:
		news = append(news, Event{At: s.At, Kind: KindChange})
	}
	if len(news) > 0 {
		news[0].Set = changes
	}
	for i := range news {
		news[i].At = max(news[i].At, t.latest) // times rise, or no time would have its slots
		t.latest = news[i].At
		t.number++
		news[i].Number = t.number
		t.count(&news[i])
		t.state.keep(news[i])
	}
	t.sum()
	return news
}

// changes are those of the slots since the last event.
func (t *Tracker) changes() (all []Change) {
	for i, s := range t.state.Slots {
		now := Change{Process: i, State: s.State, Host: s.Host, Incarnation: s.Incarnation}
		if i == len(t.told) {
			t.told = append(t.told, Change{})
		} else if t.told[i] == now {
			continue
		}
		t.told[i] = now
		all = append(all, now)
	}
	return all
}

// count notes what an event says of the whole job.
func (t *Tracker) count(e *Event) {
	s := &t.state
	switch e.Kind {
	case KindDeath:
		s.Totals.Deaths++
		if e.Process != nil {
			s.countDeath(s.hostOf(e), e.Cause)
		}
	case KindHealed:
		s.Totals.Heals++
		s.Totals.HealSeconds += e.Took
	case KindNotHeal:
		s.Totals.HealsFailed++
	case KindView:
		s.View, s.Members = e.View, e.Members
	}
}

// countDeath counts a death by host and cause.
func (s *State) countDeath(host, cause string) {
	s.Deaths = slices.Clone(s.Deaths) // readers have the list
	for i := range s.Deaths {
		if d := &s.Deaths[i]; d.Host == host && d.Cause == cause {
			d.Count++
			return
		}
	}
	s.Deaths = append(s.Deaths, DeathCount{Host: host, Cause: cause, Count: 1})
}

// hostOf is the name of the host that an event is about, or its process; empty: unknown.
func (s *State) hostOf(e *Event) string {
	host := -1
	if e.Process != nil && *e.Process < len(s.Slots) {
		host = s.Slots[*e.Process].Host
	}
	if e.Host != nil {
		host = *e.Host
	}
	if host < 0 || host >= len(s.Hosts) {
		return ""
	}
	return s.Hosts[host].Name
}

// Sample takes what processes have counted. It returns the numbers of those whose counters have
// changed, and the rate of the time since the last Sample, nil if that is too short. The next
// Observe makes an event of processes that fall silent.
func (t *Tracker) Sample(at proto.Time, all []Sample) (changed []int, rate *Rate) {
	s := &t.state
	s.Counting, s.At = true, seconds(at)
	for i := range all {
		x := &all[i]
		if x.Process < 0 || x.Process >= len(s.Slots) || s.Slots[x.Process].Incarnation != x.Incarnation {
			continue
		}
		slot, h := &s.Slots[x.Process], &t.heard[x.Process]
		if !h.known || h.stamp != x.Stamp || h.incarnation != x.Incarnation {
			*h = heard{stamp: x.Stamp, incarnation: x.Incarnation, at: at, known: true}
		}
		now := x.Counters
		if at-h.at > t.patience {
			now.Silence = seconds(at - h.at)
		}
		if slot.Counters == nil || *slot.Counters != now {
			slot.Counters = &now
			changed = append(changed, x.Process)
		}
	}
	t.sum()
	t.pace.note(at, s.Totals.Safepoints, s.Totals.Expected)
	s.Totals.Left = t.pace.left()
	s.Circle = circle(s.Slots, s.Job.Ranks)
	if span := seconds(at - t.last); t.last == 0 || span >= 0.5 {
		if t.last > 0 {
			rate = &Rate{At: s.At, Messages: per(s.Totals.Sent, t.sums.Sent, span), Bytes: per(s.Totals.Bytes, t.sums.Bytes, span)}
			s.addRate(*rate)
		}
		t.last, t.sums = at, s.Totals
	}
	return changed, rate
}

// per is a rate. The counts of a process that has died are gone from the sum: then it is 0.
func per(now, was uint64, span float64) float64 {
	if now < was {
		return 0
	}
	return math.Round(float64(now-was) / span)
}

// silent says whether a process that counts hasn't done so for a while.
func (t *Tracker) silent(p, incarnation int, at proto.Time) bool {
	h := &t.heard[p]
	return h.known && h.incarnation == incarnation && at-h.at > t.patience
}

// sum sums the counters, and judges what the job survives.
func (t *Tracker) sum() {
	s := &t.state
	was := s.Totals
	s.Totals = Totals{Deaths: was.Deaths, Heals: was.Heals, HealsFailed: was.HealsFailed, HealSeconds: was.HealSeconds, Left: was.Left}
	passed := make([]progress, max(0, s.Job.Ranks)) // of each rank; 0: none counts
	for i := range s.Slots {
		slot := &s.Slots[i]
		c := slot.Counters
		if c != nil && (alive(slot.State) || slot.State == Finished) && slot.Rank >= 0 && slot.Rank < len(passed) {
			p := &passed[slot.Rank] // a replacement is behind until it has its state
			p.passed, p.expected = max(p.passed, c.Safepoints), max(p.expected, c.Expected)
		}
		if !alive(slot.State) {
			continue
		}
		s.Totals.Live++
		if c == nil {
			continue
		}
		s.Totals.Sent += c.Sent
		s.Totals.Bytes += c.Bytes
		s.Totals.Unexpected += c.Unexpected
		s.Totals.RetainedBytes += c.RetainedBytes
		if c.Waits != "" {
			s.Totals.Waiting++
		}
	}
	if len(passed) > 0 {
		last := slices.MinFunc(passed, progress.compare)
		s.Totals.Safepoints, s.Totals.Expected = last.passed, last.expected
	}
	s.Survives = survive(s.Slots, s.Hosts, s.Job.Ranks)
}

// seconds rounds to microseconds, which is as fine as the launcher sees.
func seconds(t proto.Time) Seconds { return math.Round(float64(t)/1e3) / 1e6 }
