package window

import (
	"errors"
	"testing"

	"banyan/internal/testing/explore"
)

// pairing is a member that waits for events of two others, one after the other, and sleeps if there
// are none, as in pair.go and comm.Window.AwaitTold.
type pairing struct {
	counts  [2]int8
	dozes   bool
	bell    bool // it has been woken, or will be
	teller  [2]teller
	waiter  waiter
	deaths  int8
	mistake pairMistake
}

type teller struct {
	left    int8
	counted bool // and is about to look whether the other one may sleep
	sees    bool // it may
	dead    bool
}

type waiter struct {
	at   waitStep
	who  int8
	seen [2]int8
	left int8
}

type waitStep int8

const (
	begins waitStep = iota
	looks
	late // only by mistake
	sleeps
	ends
)

type pairMistake int8

const (
	tellsRightly pairMistake = iota
	looksFirst               // who tells looks whether the other one may sleep before it counts
	dozesLate                // who waits says so after it has looked
)

type pairEvent struct {
	teller int8 // -1: the waiter
	dies   bool
}

func (w *pairing) Events(dst []pairEvent) []pairEvent {
	for i, t := range w.teller {
		if !t.dead && t.left > 0 {
			dst = append(dst, pairEvent{int8(i), false})
			if w.deaths > 0 {
				dst = append(dst, pairEvent{int8(i), true})
			}
		}
	}
	if w.waiter.left > 0 && (w.waiter.at != sleeps || w.bell) {
		dst = append(dst, pairEvent{-1, false})
	}
	return dst
}

func (w *pairing) Apply(e pairEvent) error {
	switch {
	case e.teller < 0:
		w.waits()
	case e.dies:
		w.teller[e.teller].dead = true
		w.deaths--
		w.bell = true // the engine of the other one hears of it
	default:
		w.tells(&w.teller[e.teller], &w.counts[e.teller])
	}
	return nil
}

func (w *pairing) tells(t *teller, count *int8) {
	if !t.counted {
		if w.mistake == looksFirst {
			t.sees = w.dozes
		} else {
			*count++
		}
		t.counted = true
		return
	}
	if w.mistake == looksFirst {
		*count++
	} else {
		t.sees = w.dozes
	}
	w.bell = w.bell || t.sees
	t.counted, t.left = false, t.left-1
}

func (w *pairing) waits() {
	m := &w.waiter
	switch m.at {
	case begins:
		if w.mistake != dozesLate {
			w.dozes = true
		}
		m.at = looks
	case looks:
		if w.counts[m.who] != m.seen[m.who] {
			m.seen[m.who]++
			m.at = ends
		} else if w.teller[m.who].dead {
			m.at = ends // with an error
		} else {
			if m.at = sleeps; w.mistake == dozesLate {
				m.at = late
			}
		}
	case late:
		w.dozes, m.at = true, sleeps
	case sleeps:
		w.bell, m.at = false, looks
	case ends:
		w.dozes = false
		if m.who++; m.who == 2 {
			m.who, m.left = 0, m.left-1
		}
		m.at = begins
	}
}

var errAsleep = errors.New("it sleeps, and nobody wakes it")

func (w *pairing) End() error {
	if w.waiter.left > 0 {
		return errAsleep
	}
	return nil
}

func (w *pairing) Clone() *pairing { c := *w; return &c }

func (w *pairing) AppendKey(dst []byte) []byte {
	flag := func(is bool) byte {
		if is {
			return 1
		}
		return 0
	}
	m := &w.waiter
	dst = append(dst, byte(w.counts[0]), byte(w.counts[1]), flag(w.dozes), flag(w.bell), byte(w.deaths),
		byte(m.at), byte(m.who), byte(m.seen[0]), byte(m.seen[1]), byte(m.left))
	for _, t := range w.teller {
		dst = append(dst, byte(t.left), flag(t.counted), flag(t.sees), flag(t.dead))
	}
	return dst
}

// In all interleavings, with deaths anywhere, who waits for an event is woken.
func TestPairs(t *testing.T) {
	for _, c := range []struct {
		mistake pairMistake
		want    error
	}{{tellsRightly, nil}, {looksFirst, errAsleep}, {dozesLate, errAsleep}} {
		w := &pairing{deaths: 2, mistake: c.mistake, teller: [2]teller{{left: 3}, {left: 3}}, waiter: waiter{left: 3}}
		stats, err := explore.All(w, 5_000_000)
		if !errors.Is(err, c.want) {
			t.Errorf("mistake %d: %v", c.mistake, err)
		}
		t.Logf("mistake %d: %+v", c.mistake, stats)
	}
}

// The words do what the exploration says.
func TestTell(t *testing.T) {
	all := open(t, 3, 0)
	if all[0].Tell(Posted, 2) || all[2].Told(Posted, 0) != 1 || all[2].Told(Completed, 0) != 0 || all[1].Told(Posted, 0) != 0 {
		t.Error("an event isn't counted, or the wrong one")
	}
	all[2].Doze(true)
	all[2].Doze(true)
	all[2].Doze(false)
	if !all[0].Tell(Completed, 2) || all[0].Tell(Completed, 1) || !all[1].Dozing(2) || all[1].Dozing(0) {
		t.Error("who tells doesn't know who may sleep")
	}
	all[2].Doze(false)
	if all[0].Tell(Completed, 2) || all[2].Told(Completed, 0) != 2 {
		t.Errorf("%d events", all[2].Told(Completed, 0))
	}
}
