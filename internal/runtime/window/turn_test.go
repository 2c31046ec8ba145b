package window

import (
	"errors"
	"testing"

	"banyan/internal/testing/explore"
)

// turns is the words of one part, and members that accumulate there, one atomic step at a time, as
// in Begin and End and in capi/lane_turn.h. A member that would look again and again takes its step
// when what it waits for is so, or when it knows of the death that is in its way.
type turns struct {
	turn    int8 // the member's number from 1 on
	counts  [3]int8
	members [3]accumulator
	deaths  int8 // that may still happen
	mistake mistake
}

type accumulator struct {
	at    step
	alone bool
	next  int8 // member whose count it looks at
	left  int8 // accumulates
	dead  bool
}

type step int8

const (
	idle step = iota
	looked
	counted
	refusedOne
	amongOthers
	scans
	isAlone
)

type mistake int8

const (
	none          mistake = iota
	doesntRecheck         // the turn, after it has counted itself
	doesntScan            // the counts
	clearsLiving          // clears the turn without knowing of a death
	forgetsDead           // doesn't clear the counts of the dead
)

type turnEvent struct {
	member int8
	dies   bool
}

func (w *turns) Events(dst []turnEvent) []turnEvent {
	for i, m := range w.members {
		if m.dead {
			continue
		}
		if w.deaths > 0 && m.at != idle {
			dst = append(dst, turnEvent{int8(i), true})
		}
		if m.left > 0 && w.mayStep(&m) {
			dst = append(dst, turnEvent{int8(i), false})
		}
	}
	return dst
}

func (w *turns) holderDead() bool { return w.turn != 0 && w.members[w.turn-1].dead }

func (w *turns) mayStep(m *accumulator) bool {
	switch m.at {
	case idle:
		return w.turn == 0 || w.holderDead() || w.mistake == clearsLiving
	case scans:
		return int(m.next) == len(w.counts) || w.counts[m.next] == 0 || w.mistake == doesntScan ||
			w.members[m.next].dead && w.mistake != forgetsDead
	}
	return true
}

var errNotAlone = errors.New("a member is alone, and another one accumulates")

func (w *turns) Apply(e turnEvent) error {
	m := &w.members[e.member]
	if e.dies {
		m.dead = true
		w.deaths--
		return nil
	}
	own := &w.counts[e.member]
	switch m.at {
	case idle:
		switch {
		case w.turn != 0:
			w.turn = 0 // its holder is dead
		case m.alone:
			w.turn, m.at, m.next = e.member+1, scans, 0
		default:
			m.at = looked
		}
	case looked:
		*own++
		if m.at = counted; w.mistake == doesntRecheck {
			m.at = amongOthers
		}
	case counted:
		if m.at = amongOthers; w.turn != 0 {
			m.at = refusedOne
		}
	case refusedOne:
		*own--
		m.at = idle
	case scans:
		switch {
		case int(m.next) == len(w.counts):
			m.at = isAlone
		case w.members[m.next].dead:
			w.counts[m.next] = 0
			m.next++
		default:
			m.next++
		}
	case amongOthers:
		*own--
		m.at, m.left = idle, m.left-1
	case isAlone:
		w.turn, m.at, m.left = 0, idle, m.left-1
	}
	for i := range w.members {
		for j := range w.members {
			a, b := &w.members[i], &w.members[j]
			if i != j && !a.dead && !b.dead && a.at == isAlone && (b.at == isAlone || b.at == amongOthers) {
				return errNotAlone
			}
		}
	}
	return nil
}

var errWaits = errors.New("a member waits for ever")

func (w *turns) End() error {
	for _, m := range w.members {
		if !m.dead && m.left > 0 {
			return errWaits
		}
	}
	return nil
}

func (w *turns) Clone() *turns { c := *w; return &c }

func (w *turns) AppendKey(dst []byte) []byte {
	dst = append(dst, byte(w.turn), byte(w.deaths))
	for i, m := range w.members {
		flags := byte(0)
		if m.alone {
			flags = 1
		}
		if m.dead {
			flags |= 2
		}
		dst = append(dst, byte(w.counts[i]), byte(m.at), byte(m.next), byte(m.left), flags)
	}
	return dst
}

// In all interleavings, with deaths anywhere, who is alone is alone, and nobody waits for ever.
func TestTurns(t *testing.T) {
	each, deaths := int8(2), int8(2)
	if explore.Long() {
		each = 4
	}
	for alone := range 1 << 3 {
		w := &turns{deaths: deaths}
		for i := range w.members {
			w.members[i] = accumulator{left: each, alone: alone>>i&1 == 1}
		}
		stats, err := explore.All(w, 20_000_000)
		if err != nil {
			t.Fatalf("alone %03b: %v", alone, err)
		}
		t.Logf("alone %03b: %+v", alone, stats)
	}
}

// The exploration finds each mistake that the steps are there for.
func TestTurnsCanaries(t *testing.T) {
	for m, want := range map[mistake]error{
		doesntRecheck: errNotAlone, doesntScan: errNotAlone, clearsLiving: errNotAlone, forgetsDead: errWaits,
	} {
		w := &turns{deaths: 1, mistake: m}
		for i := range w.members {
			w.members[i] = accumulator{left: 2, alone: i < 2}
		}
		if _, err := explore.All(w, 1_000_000); !errors.Is(err, want) {
			t.Errorf("mistake %d: %v", m, err)
		}
	}
}

// The words do what the exploration says, and a member that ends in the midst is passed once its
// death is known.
func TestBegin(t *testing.T) {
	all := open(t, 3, 0)
	begins := func(m *Memory, alone, want bool, dead func(int) bool) {
		t.Helper()
		if got := m.Begin(1, alone, dead); got != want {
			t.Errorf("member %d begins, alone %v: %v", m.self, alone, got)
		}
	}
	begins(all[0], false, true, nobody)
	begins(all[1], false, true, nobody)
	begins(all[2], true, false, nobody)
	begins(all[1], false, true, nobody) // it has two threads, say
	all[0].End(1, false)
	all[1].End(1, false)
	all[1].End(1, false)
	begins(all[2], true, true, nobody)
	begins(all[0], false, false, nobody)
	begins(all[0], true, false, nobody)
	if !all[0].Begin(2, true, nobody) {
		t.Error("another part isn't free")
	}
	two := func(member int) bool { return member == 2 }
	begins(all[0], true, true, two) // the holder is dead
	all[0].End(1, true)
	begins(all[1], false, true, nobody)
	one := func(member int) bool { return member == 1 }
	begins(all[0], true, false, nobody)
	begins(all[0], true, true, one)
	all[0].End(1, true)
	begins(all[2], true, true, nobody) // what the dead one left was cleared
	all[2].End(1, true)
}
