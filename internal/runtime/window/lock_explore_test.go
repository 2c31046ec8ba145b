package window

import (
	"errors"
	"testing"

	"banyan/internal/testing/explore"
)

// locking is the words of the locks of two parts, and members that take them, one atomic step at a
// time, as in lock.go and capi/lane_lock.h. A member that would look again and again takes its step
// when what it waits for is so, or when it knows of the death that is in its way.
type locking struct {
	words   [parts]int8 // the member's number from 1 on
	wanted  [parts]bool
	shares  [3][parts + 1]bool // the last one is for all parts
	members [3]locker
	deaths  int8 // that may still happen
	mistake lockMistake
}

const parts = 2

type locker struct {
	at   lockStep
	kind lockKind
	part int8
	next int8 // what it looks at
	left int8 // locks
	dead bool
}

type lockKind int8

const (
	sharesOne lockKind = iota
	sharesAll
	aloneAt
)

type lockStep int8

const (
	away     lockStep = iota
	seesFree          // who shares a lock is about to say so
	hasSaid
	takesBack
	scansAll
	holds
)

type lockMistake int8

const (
	noMistake     lockMistake = iota
	looksNotAgain             // who shares a lock, after it has said so
	scansNone                 // who wants it alone
	scansOnePart              // and forgets those that share all
	freesDead                 // clears what a dead holder has left
	keepsShares               // doesn't clear what the dead share
	keepsWishes               // doesn't clear what the dead wanted
)

type lockEvent struct {
	member int8
	dies   bool
}

// passable tells whether a part's word is free, or says what a dead member wanted.
func (w *locking) passable(part int8) bool {
	holder := w.words[part]
	return holder == 0 || w.members[holder-1].dead && (w.wanted[part] && w.mistake != keepsWishes || w.mistake == freesDead)
}

// lost tells whether the holder of a part is dead.
func (w *locking) lost(part int8) bool {
	return w.words[part] != 0 && !w.wanted[part] && w.members[w.words[part]-1].dead && w.mistake != freesDead
}

// over are the parts that a member is about.
func (m *locker) over() []int8 {
	if m.kind == sharesAll {
		return []int8{0, 1}
	}
	return []int8{m.part}
}

// row is where a member says that it shares.
func (m *locker) row() int8 {
	if m.kind == sharesAll {
		return parts
	}
	return m.part
}

func (w *locking) Events(dst []lockEvent) []lockEvent {
	for i, m := range w.members {
		if m.dead {
			continue
		}
		if w.deaths > 0 && m.at != away {
			dst = append(dst, lockEvent{int8(i), true})
		}
		if m.left > 0 && w.mayStep(&m) {
			dst = append(dst, lockEvent{int8(i), false})
		}
	}
	return dst
}

func (w *locking) mayStep(m *locker) bool {
	switch m.at {
	case away:
		free := true
		for _, p := range m.over() {
			if w.lost(p) {
				return true
			}
			free = free && w.passable(p)
		}
		return free
	case scansAll:
		who, row, more := w.scanned(m)
		return !more || !w.shares[who][row] || w.members[who].dead && w.mistake != keepsShares
	}
	return true
}

// scanned is what a member that wants a lock alone looks at next.
func (w *locking) scanned(m *locker) (who, row int8, more bool) {
	who, row = m.next/2, m.part
	if m.next%2 == 1 {
		row = parts
	}
	return who, row, int(who) < len(w.members) && w.mistake != scansNone
}

var (
	errNotLocked = errors.New("a member has a lock, and so has one that it excludes")
	errStuck     = errors.New("a member waits for ever")
)

func (w *locking) Apply(e lockEvent) error {
	m := &w.members[e.member]
	if e.dies {
		m.dead = true
		w.deaths--
		return nil
	}
	switch m.at {
	case away:
		w.begins(m, e.member)
	case seesFree:
		w.shares[e.member][m.row()] = true
		m.at, m.next = hasSaid, 0
	case hasSaid:
		w.looksAgain(m)
	case takesBack:
		w.shares[e.member][m.row()] = false
		m.at = away
	case scansAll:
		w.scans(m)
	case holds:
		if m.kind == aloneAt {
			w.words[m.part] = 0
		} else {
			w.shares[e.member][m.row()] = false
		}
		m.at, m.left = away, m.left-1
	}
	return w.check()
}

func (w *locking) begins(m *locker, self int8) {
	for _, p := range m.over() {
		if w.lost(p) {
			m.left = 0 // with an error
			return
		}
	}
	for _, p := range m.over() {
		if w.words[p] != 0 {
			w.words[p], w.wanted[p] = 0, false // what the dead wanted
			return
		}
	}
	if m.kind == aloneAt {
		w.words[m.part], w.wanted[m.part] = self+1, true
		m.at, m.next = scansAll, 0
	} else {
		m.at = seesFree
	}
}

func (w *locking) looksAgain(m *locker) {
	over := m.over()
	switch {
	case int(m.next) == len(over) || w.mistake == looksNotAgain:
		m.at = holds
	case w.words[over[m.next]] != 0:
		m.at = takesBack
	default:
		m.next++
	}
}

func (w *locking) scans(m *locker) {
	who, row, more := w.scanned(m)
	if !more {
		m.at, w.wanted[m.part] = holds, false
		return
	}
	if w.members[who].dead {
		w.shares[who][row] = false
	}
	if m.next++; w.mistake == scansOnePart && m.next%2 == 1 {
		m.next++
	}
}

// check finds holders that exclude each other. A dead one excludes others for good if it was alone.
func (w *locking) check() error {
	for i := range w.members {
		for j := range w.members {
			a, b := &w.members[i], &w.members[j]
			if i == j || a.kind != aloneAt || a.at != holds || b.at != holds || b.dead {
				continue
			}
			for _, p := range b.over() {
				if p == a.part {
					return errNotLocked
				}
			}
		}
	}
	return nil
}

func (w *locking) End() error {
	for _, m := range w.members {
		if !m.dead && m.left > 0 {
			return errStuck
		}
	}
	return nil
}

func (w *locking) Clone() *locking { c := *w; return &c }

func (w *locking) AppendKey(dst []byte) []byte {
	flag := func(is bool, bit byte) byte {
		if is {
			return bit
		}
		return 0
	}
	dst = append(dst, byte(w.deaths))
	for p := range parts {
		dst = append(dst, byte(w.words[p]), flag(w.wanted[p], 1))
	}
	for i, m := range w.members {
		bits := flag(m.dead, 128)
		for p, s := range w.shares[i] {
			bits |= flag(s, 1<<p)
		}
		dst = append(dst, byte(m.at), byte(m.kind), byte(m.part), byte(m.next), byte(m.left), bits)
	}
	return dst
}

// lockers are members that take so many locks each: of kinds, at parts.
func lockers(kinds [3]lockKind, at [3]int8, each int8) (members [3]locker) {
	for i := range members {
		members[i] = locker{kind: kinds[i], part: at[i], left: each}
	}
	return members
}

// In all interleavings, with deaths anywhere, locks exclude what they are to exclude, what the dead
// held alone stays locked, and nobody waits for ever.
func TestLocksExplored(t *testing.T) {
	each := int8(2)
	if explore.Long() {
		each = 3
	}
	states := 0
	for n := range 27 {
		kinds := [3]lockKind{lockKind(n % 3), lockKind(n / 3 % 3), lockKind(n / 9)}
		for _, at := range [][3]int8{{0, 0, 0}, {0, 1, 0}} {
			stats, err := explore.All(&locking{deaths: 2, members: lockers(kinds, at, each)}, 20_000_000)
			if err != nil {
				t.Fatalf("%v at %v: %v", kinds, at, err)
			}
			states += stats.States
		}
	}
	t.Logf("%d states", states)
}

// The exploration finds each mistake that the steps are there for.
func TestLocksCanaries(t *testing.T) {
	for m, want := range map[lockMistake]error{
		looksNotAgain: errNotLocked, scansNone: errNotLocked, scansOnePart: errNotLocked, freesDead: errNotLocked,
		keepsShares: errStuck, keepsWishes: errStuck,
	} {
		w := &locking{deaths: 1, mistake: m, members: lockers([3]lockKind{aloneAt, sharesAll, aloneAt}, [3]int8{}, 2)}
		if _, err := explore.All(w, 1_000_000); !errors.Is(err, want) {
			t.Errorf("mistake %d: %v", m, err)
		}
	}
}
