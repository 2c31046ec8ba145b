package lane

import "testing"

// Go's notes: as many as there is room for, each with a handle of its own, also when places are
// used again; those that go back wait in the order in which they were made.
func TestNotesGoBack(t *testing.T) {
	m, err := New(0, 2)
	if err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 8)
	var handles []uint64
	add := func() bool {
		h, place, ok := m.Add(7, 3, 1, 1, int32(len(handles)), buffer)
		if ok {
			if n := m.Note(h); n == nil || !n.Posted() || PlaceOf(h) != place || !IsNote(h) {
				t.Fatalf("%#x at %d isn't the handle of a note that is posted", h, place)
			}
			handles = append(handles, h)
		}
		return ok
	}
	for add() {
	}
	if len(handles) != Notes || m.Posted() != Notes {
		t.Fatalf("there is room for %d notes, and %d are posted", len(handles), m.Posted())
	}
	old := handles[5]
	m.Free(m.Note(old))
	if m.Note(old) != nil || m.Posted() != Notes-1 {
		t.Error("a note that is freed is there")
	}
	m.Keep(m.Note(handles[6])) // it has an object, and doesn't go back
	m.Return(func(place uint32) (tag int32, bytes uint64, came, ok bool) {
		switch place {
		case 7: // its message has come
			return 7, 4, true, true
		case 8: // it must stay posted
			return 0, 0, false, false
		}
		return 0, 0, false, true
	})
	if n := m.Note(handles[7]); !n.Received() {
		t.Error("the message of note 7 has come, and it isn't received")
	} else if tag, bytes := n.Message(); tag != 7 || bytes != 4 {
		t.Errorf("note 7 has tag %d and %d bytes", tag, bytes)
	}
	if m.Posted() != 1 || !m.Note(handles[8]).Posted() {
		t.Errorf("%d notes are posted, and should be note 8 alone", m.Posted())
	}
	if !m.Noted() {
		t.Error("no note waits")
	}
	last := int32(-1)
	count := 0
	m.Post(func(_ uint32, n *Note) {
		_, _, tag := n.Envelope()
		if tag <= last {
			t.Errorf("tag %d is posted behind %d", tag, last)
		}
		last, count = tag, count+1
	})
	if want := Notes - 4; count != want || m.Posted() != want+1 || m.Noted() {
		t.Errorf("%d notes are posted again, want %d", count, want)
	}
	for _, h := range handles {
		if n := m.Note(h); n != nil {
			m.Free(n)
		}
	}
	if m.Posted() != 0 {
		t.Errorf("%d notes are posted in the end", m.Posted())
	}
	for range Notes { // none of the old handles comes again
		if !add() {
			t.Fatal("a place isn't used again")
		}
	}
	seen := map[uint64]bool{}
	for _, h := range handles {
		if seen[h] {
			t.Fatalf("%#x names two requests", h)
		}
		seen[h] = true
	}
}

// A receive that waits long, as a thread's that doesn't run, takes one place and no more: others
// come and go beside it for as long as they like, and it is still the oldest.
func TestOldNote(t *testing.T) {
	m, err := New(0, 2)
	if err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 8)
	add := func(tag int32) (uint64, uint32) {
		h, place, ok := m.Add(7, 3, 1, 1, tag, buffer)
		if !ok {
			t.Fatalf("there is no room for note %d", tag)
		}
		return h, place
	}
	old, _ := add(0)
	for tag := int32(1); tag < 3*Notes; tag += 2 {
		a, _ := add(tag)
		b, _ := add(tag + 1)
		m.Settle(m.Note(a), tag, 8) // the older of the two, or the younger
		if tag%4 == 1 {
			a, b = b, a
		}
		var order []int32
		m.Return(func(uint32) (int32, uint64, bool, bool) { return 0, 0, false, true })
		m.Post(func(_ uint32, n *Note) { order = append(order, n.tag) })
		if len(order) != 2 || order[0] != 0 || order[1] != tag+1 {
			t.Fatalf("notes %v are posted, want 0 and %d", order, tag+1)
		}
		m.Free(m.Note(a))
		m.Free(m.Note(b))
	}
	if m.Free(m.Note(old)); m.Posted() != 0 || m.notes.end().younger != Notes || m.notes.end().older != Notes {
		t.Errorf("%d are posted, from %d to %d, and there is no request", m.Posted(), m.notes.end().younger, m.notes.end().older)
	}
}
