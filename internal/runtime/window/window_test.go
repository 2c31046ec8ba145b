package window

import (
	"math"
	"testing"
	"unsafe"
)

// open is the memory of so many members, seen by each of them.
func open(t *testing.T, members, bytes int) []*Memory {
	t.Helper()
	m, ticket, err := Make(0, members, bytes)
	if err != nil {
		t.Fatal(err)
	}
	all := []*Memory{m}
	for self := 1; self < members; self++ {
		m, err := Open(ticket, self, members, bytes)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	all[0].Shut()
	if _, err := Open(ticket, 1, members, bytes); err == nil {
		t.Error("the memory can be opened after Shut")
	}
	t.Cleanup(func() {
		for _, m := range all {
			m.Close()
		}
	})
	return all
}

func bytesAt(m *Memory, offset, n int) []byte { return unsafe.Slice((*byte)(m.At(offset)), n) }

// What one member stores the others load.
func TestMemory(t *testing.T) {
	const bytes = 3*4096 + 5
	all := open(t, 3, bytes)
	copy(bytesAt(all[1], bytes-5, 5), "banya")
	for i, m := range all {
		if got := string(bytesAt(m, bytes-5, 5)); got != "banya" {
			t.Errorf("member %d reads %q", i, got)
		}
	}
	if uintptr(all[0].At(0))%uintptr(pageSize) != 0 {
		t.Error("the parts don't begin at a page")
	}
}

// A ticket opens the memory that it was made for, and no other.
func TestTicket(t *testing.T) {
	m, ticket, err := Make(0, 2, 100)
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	for what, try := range map[string]func() (*Memory, error){
		"no ticket":    func() (*Memory, error) { return Open(Ticket{}, 1, 2, 100) },
		"another mark": func() (*Memory, error) { forged := ticket; forged[3]++; return Open(forged, 1, 2, 100) },
		"another size": func() (*Memory, error) { return Open(ticket, 1, 2, 100000) },
		"more members": func() (*Memory, error) { return Open(ticket, 1, 3, 100) },
	} {
		if m, err := try(); err == nil {
			t.Errorf("%s opens it", what)
			m.Close()
		}
	}
	if _, _, err := Make(0, 2, math.MaxInt64/8); err == nil || !TooLarge(err) {
		t.Errorf("more memory than there is: %v", err)
	}
}

func nobody(int) bool { return false }

func tries(t *testing.T, m *Memory, part int, exclusive, want bool) {
	t.Helper()
	if got := m.TryLock(part, exclusive, nobody); got != want {
		t.Errorf("member %d locks part %d, exclusive %v: %v", m.self, part, exclusive, got)
	}
}

func triesAll(t *testing.T, m *Memory, want bool) {
	t.Helper()
	if got := m.TryLockAll(nobody); got != want {
		t.Errorf("member %d locks all: %v", m.self, got)
	}
}

// An exclusive lock excludes all others of its part, a shared one the exclusive ones.
func TestLocks(t *testing.T) {
	all := open(t, 3, 0)
	a, b, c := all[0], all[1], all[2]
	tries(t, a, 1, true, true)
	tries(t, b, 1, true, false)
	tries(t, b, 1, false, false)
	triesAll(t, c, false)
	tries(t, b, 2, true, true)
	a.Unlock(1, true)
	b.Unlock(2, true)
	tries(t, b, 1, false, true)
	tries(t, c, 1, false, true)
	triesAll(t, a, true)
	b.Unlock(1, false)
	c.Unlock(1, false)
	tries(t, c, 1, true, false)
	tries(t, b, 1, false, false) // one that comes later doesn't pass who waits
	a.UnlockAll()
	tries(t, c, 1, true, true)
	if _, _, is := a.Abandoned(1, nobody); is {
		t.Error("a part whose holder lives is abandoned")
	}
	c.Unlock(1, true)
	tries(t, a, 0, false, true)
	tries(t, b, 0, true, false)
	b.Forgo(0)
	tries(t, c, 0, false, true)
}

// The lock of a member that dies is its own until the death is known. Then what it shared or wanted
// is free, and the part that it held alone is abandoned.
func TestHolderDies(t *testing.T) {
	all := open(t, 5, 0)
	tries(t, all[3], 0, false, true)
	triesAll(t, all[4], true)
	tries(t, all[1], 2, true, false) // it has no lock yet
	tries(t, all[0], 2, false, false)
	four := func(member int) bool { return member == 4 }
	if all[1].TryLock(2, true, nobody) || !all[1].TryLock(2, true, four) {
		t.Error("what a dead member shares keeps others out")
	}
	tries(t, all[0], 0, true, false)
	three := func(member int) bool { return member == 3 }
	if !all[0].TryLock(0, true, three) {
		t.Error("what a dead member shares keeps others out")
	}
	one := func(member int) bool { return member == 1 }
	for _, m := range []*Memory{all[0], all[2]} {
		for _, exclusive := range []bool{false, true} {
			tries(t, m, 2, exclusive, false)
			if m.TryLock(2, exclusive, one) {
				t.Error("an abandoned part is locked")
			}
		}
		triesAll(t, m, false)
		if _, _, is := m.Abandoned(2, nobody); is {
			t.Error("the part is abandoned before its holder is known to be dead")
		}
		by, left, is := m.Abandoned(2, one)
		if by != 1 || left || !is {
			t.Errorf("the dead holder is %d, left %v, abandoned %v", by, left, is)
		}
	}
	tries(t, all[2], 3, false, true)
	tries(t, all[3], 3, true, false)
	if _, _, is := all[0].Abandoned(3, three); is {
		t.Error("a part is abandoned that a dead member only wanted")
	}
	if !all[0].TryLock(3, false, three) {
		t.Error("what a dead member wanted keeps others out")
	}
	if all[3].TryLock(3, true, three) {
		t.Error("a member that was taken for dead gets the lock")
	}
	tries(t, all[2], 1, true, true)
	all[2].Leave(1)
	all[2].Drop()
	if by, left, is := all[0].Abandoned(1, nobody); by != 2 || !left || !is {
		t.Errorf("the holder that left is %d, left %v, abandoned %v", by, left, is)
	}
}
