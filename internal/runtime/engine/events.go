package engine

import (
	"time"

	"banyan/internal/proto"
	"banyan/internal/proto/detector"
	"banyan/internal/proto/membership"
	"banyan/internal/proto/thinning"
	"banyan/internal/runtime/lane"
	"banyan/internal/runtime/process"
)

// EventKind says what an Event tells.
type EventKind uint8

// Kinds of events.
const (
	Died       EventKind = iota // a process has died: Report says how
	RankLost                    // Rank has no replica left
	Fenced                      // the others hold this process for dead; By said so
	Apart                       // this process and By can't reach each other, though others reach both; Fenced follows
	Aborted                     // By called Abort with Code
	Viewed                      // View is in force; Coordinator: this process brought it about
	Minority                    // this process must stop: too many are silent, those in Gone
	Heals                       // a healing has come to Step
	Unhealable                  // this process can't give its state to a replacement: Text says why
	RankGone                    // Rank has no replica left, and the program mustn't know of it yet
	Settled                     // this process owes nothing to others that stay; Told and Results go with that
	Claims                      // this process owes, and has waited for long for what Claims say
	Outrun                      // this process must stop: Rank has what it can't send any more
)

// Event is something that concerns the process as a whole.
type Event struct {
	Kind   EventKind
	Report detector.Report
	Rank   proto.Rank
	By     proto.Proc
	Code   int
	Step   process.HealStep
	Opaque bool // with StepHealable: nobody can tell how much input the program has taken
	// Replacement and Incarnation name the process that StepMark is about.
	Replacement proto.Proc
	Incarnation proto.Incarnation
	Text        string
	Told        uint64
	Results     []thinning.Result
	Claims      []thinning.Claim

	View        *membership.View
	Coordinator bool
	Gone        []membership.Departure
}

// BySilence says whether this process has concluded the death in Report from silence.
func (e Event) BySilence() bool { return e.Report.Cause == detector.CauseSilence }

// host turns the callbacks of the process into events. The channel has room for each death, loss
// and fence, which come once. An abort that finds no room is one of many.
type host struct{ e *Engine }

func (h host) put(ev Event) {
	select {
	case h.e.events <- ev:
	default:
	}
}

func (h host) Died(r detector.Report) { h.put(Event{Kind: Died, Report: r}) }
func (h host) RankLost(r proto.Rank) {
	h.e.loseInLane(r)
	h.e.disturbed.Store(true)
	if l := &h.e.listening; len(l.ears) > 0 {
		l.lost = append(l.lost, r)
	}
	h.put(Event{Kind: RankLost, Rank: r})
	if b := h.e.back; b != nil {
		time.Sleep(b.Grace)
	}
}

// RankGone implements process.ThinHost.
func (h host) RankGone(r proto.Rank) { h.put(Event{Kind: RankGone, Rank: r}) }

// Settled implements process.ThinHost.
func (h host) Settled(told uint64, results []thinning.Result) {
	h.put(Event{Kind: Settled, Told: told, Results: results})
}

// Claims implements process.ThinHost.
func (h host) Claims(claims []thinning.Claim) { h.put(Event{Kind: Claims, Claims: claims}) }

// Outrun implements process.ThinHost.
func (h host) Outrun(to proto.Rank) { h.put(Event{Kind: Outrun, Rank: to}) }

// Revoked leaves a revoked communicator to Go, which knows that it is.
func (h host) Revoked(context uint64) {
	h.e.disturbed.Store(true)
	h.e.shared.DropContext(context)
}

func (h host) Fenced(by proto.Proc)  { h.e.closeLane(lane.Lost); h.put(Event{Kind: Fenced, By: by}) }
func (h host) Apart(from proto.Proc) { h.put(Event{Kind: Apart, By: from}) }

func (h host) Aborted(by proto.Proc, code int) { h.put(Event{Kind: Aborted, By: by, Code: code}) }

func (h host) Minority(gone []membership.Departure) {
	h.put(Event{Kind: Minority, View: h.e.p.View(), Gone: gone})
}

func (h host) Viewed(v *membership.View, coordinator bool) {
	h.e.views.add(v)
	h.put(Event{Kind: Viewed, View: v, Coordinator: coordinator})
}

func (h host) SafepointWanted(wanted bool) { h.e.safe.setDue(wanted || !h.e.safe.passed) }

func (h host) HealFailed(err error) {
	if h.e.cfg.HealFailed != nil {
		h.e.cfg.HealFailed(err)
	}
}

func (h host) Heals(step process.HealStep) {
	if step == process.StepCommitted && h.e.cfg.Committed != nil {
		h.e.cfg.Committed()
	}
	event := Event{Kind: Heals, Step: step, Opaque: h.e.safe.input.opaque}
	if step == process.StepMark {
		event.Replacement, event.Incarnation = h.e.p.Replacement()
	}
	h.put(event)
}
