package commons

import (
	"bytes"
	"fmt"
	"testing"
	"unsafe"

	"banyan/internal/proto/cells"
)

// opened gives the memory as each of its members sees it.
func opened(t *testing.T, size int) []*Memory {
	t.Helper()
	first, ticket, err := Make(size)
	if err != nil {
		t.Fatal(err)
	}
	all := []*Memory{first}
	for i := 1; i < size; i++ {
		m, err := Open(ticket, i, size)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, m)
	}
	first.Shut()
	t.Cleanup(func() {
		for _, m := range all {
			m.Unmap()
		}
	})
	if _, err := Open(ticket, 1, size); err == nil {
		t.Error("memory that is shut can be opened")
	}
	return all
}

// turns lets the members go on in turn until all calls have ended, and returns what each has read
// of each other one.
func turns(t *testing.T, all []*Memory) [][][]byte {
	t.Helper()
	read := make([][][]byte, len(all))
	ended := make([]bool, len(all))
	for range 1000 {
		left := false
		for i, m := range all {
			if ended[i] {
				continue
			}
			left = true
			switch m.Go() {
			case Reads:
				read[i] = make([][]byte, len(all))
				for j := range all {
					read[i][j] = bytes.Clone(m.Data(j))
				}
				m.Done()
			case Wakes:
				m.Done()
			case Waits:
				m.Doze()
			case Ended:
				ended[i] = true
				if o, culprit, has := m.End(); o != cells.Done {
					t.Fatalf("member %d ends with %v, %d, %d", i, o, culprit, has)
				}
			}
		}
		if !left {
			return read
		}
	}
	t.Fatal("the calls don't end")
	return nil
}

// Members that have mapped the memory at different addresses exchange data of all lengths, in more
// calls than there are cells.
func TestExchange(t *testing.T) {
	for _, size := range []int{2, 3, MaxSize} {
		all := opened(t, size)
		for call, n := range []int{1, 8, Inline, Inline + 1, 1000, Room, 0, 5, Room, Inline, Room - 1, 3} {
			given := func(member int) []byte { return bytes.Repeat([]byte{byte(call<<4 | member)}, n) }
			for i, m := range all {
				m.Begin(Call{Pattern: All, Kind: 3, Size: n, Give: given(i)})
			}
			for i, read := range turns(t, all) {
				for j, b := range read {
					if !bytes.Equal(b, given(j)) {
						t.Fatalf("%d members, call %d: member %d reads %d bytes %.8x from %d", size, call, i, len(b), b, j)
					}
				}
			}
			root := call % size
			for i, m := range all {
				c := Call{Pattern: FromRoot, Root: root, Kind: 1, Size: n}
				if i == root {
					c.Give = given(i)
				}
				m.Begin(c)
			}
			for i, read := range turns(t, all) {
				if n > 0 && i != root && !bytes.Equal(read[root], given(root)) {
					t.Fatalf("%d members, call %d: member %d reads %.8x from the root", size, call, i, read[root])
				}
			}
		}
	}
}

// Each cell has a line of its own, and the room of one doesn't reach into another's.
func TestLayout(t *testing.T) {
	all := opened(t, 3)
	m := all[0]
	if s := unsafe.Sizeof(line{}); s != lineSize {
		t.Errorf("a cell's line has %d bytes", s)
	}
	seen := map[string]bool{}
	end := uintptr(m.base) + uintptr(wholeSize(3))
	for member := range 3 {
		for cell := range Depth {
			for _, n := range []int{Inline, Room} {
				p := m.place(member, cell, n)
				at := uintptr(unsafe.Pointer(&p[0]))
				if at < uintptr(m.base) || at+uintptr(n) > end {
					t.Fatalf("member %d, cell %d: outside of the memory", member, cell)
				}
				for b := range (n + lineSize - 1) / lineSize {
					key := fmt.Sprint(at/lineSize + uintptr(b))
					if seen[key] {
						t.Fatalf("member %d, cell %d shares a line", member, cell)
					}
					seen[key] = true
				}
			}
		}
	}
}

// The first decision counts, at all members.
func TestDecide(t *testing.T) {
	for _, use := range []bool{true, false} {
		all := opened(t, 2)
		if all[0].Decide(use) != use || all[1].Decide(!use) != use || all[0].Decide(!use) != use {
			t.Errorf("the decision for %v isn't kept", use)
		}
	}
}

func TestNoSuchMemory(t *testing.T) {
	first, ticket, err := Make(2)
	if err != nil {
		t.Fatal(err)
	}
	defer first.Unmap()
	for name, change := range map[string]func(*Ticket){
		"none":            func(t *Ticket) { *t = Ticket{} },
		"another mark":    func(t *Ticket) { t[3]++ },
		"no such process": func(t *Ticket) { t[18], t[19] = 0xff, 0x7f },
		"another file":    func(t *Ticket) { t[24], t[25], t[26] = 0, 0, 0 },
	} {
		bad := ticket
		change(&bad)
		if _, err := Open(bad, 1, 2); err == nil {
			t.Errorf("%s: it can be opened", name)
		}
	}
	if _, err := Open(ticket, 1, 3); err == nil {
		t.Error("memory for two members can be opened as one for three")
	}
}

// TestAhead: a member knows that another one has given its data in a call that it hasn't begun.
func TestAhead(t *testing.T) {
	all := opened(t, 2)
	if all[0].Ahead() || all[1].Ahead() {
		t.Error("a member is ahead before any call")
	}
	all[0].Begin(Call{Kind: Bcast, Pattern: FromRoot, Size: 1, Give: []byte("x")})
	all[0].Go()
	if all[0].Ahead() || !all[1].Ahead() {
		t.Errorf("the root has given: %v, %v", all[0].Ahead(), all[1].Ahead())
	}
	all[1].Begin(Call{Kind: Bcast, Pattern: FromRoot, Size: 1})
	if all[1].Ahead() {
		t.Error("it has begun the call, and is behind all the same")
	}
}
