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

func tries(t *testing.T, m *Memory, part int, exclusive, want bool) {
	t.Helper()
	if got, err := m.TryLock(part, exclusive); err != nil || got != want {
		t.Errorf("member %d locks part %d, exclusive %v: %v, %v", m.self, part, exclusive, got, err)
	}
}

func triesAll(t *testing.T, m *Memory, want bool) {
	t.Helper()
	if got, err := m.TryLockAll(); err != nil || got != want {
		t.Errorf("member %d locks all: %v, %v", m.self, got, err)
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
	a.UnlockAll()
	tries(t, c, 1, true, true)
	if _, _, is := a.Abandoned(1, func(int) bool { return false }); is {
		t.Error("a part whose holder lives is abandoned")
	}
	c.Unlock(1, true)
}

// The lock of a member that ends without a word is free, and its part is abandoned. One that held
// a shared lock leaves nothing behind.
func TestHolderEnds(t *testing.T) {
	all := open(t, 4, 0)
	tries(t, all[3], 0, false, true)
	tries(t, all[1], 2, true, true)
	nobody := func(int) bool { return false }
	all[1].Drop()
	all[3].Drop()
	tries(t, all[0], 0, true, true)
	for _, m := range []*Memory{all[0], all[2]} {
		tries(t, m, 2, false, false)
		tries(t, m, 2, true, false)
		triesAll(t, m, false)
		if _, _, is := m.Abandoned(2, nobody); is {
			t.Error("the part is abandoned before its holder is known to be dead")
		}
		by, left, is := m.Abandoned(2, func(member int) bool { return member == 1 })
		if by != 1 || left || !is {
			t.Errorf("the dead holder is %d, left %v, abandoned %v", by, left, is)
		}
	}
	tries(t, all[2], 1, true, true)
	all[2].Leave(1)
	all[2].Drop()
	if by, left, is := all[0].Abandoned(1, nobody); by != 2 || !left || !is {
		t.Errorf("the holder that left is %d, left %v, abandoned %v", by, left, is)
	}
}
