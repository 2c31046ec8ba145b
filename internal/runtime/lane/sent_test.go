package lane

import "testing"

// The handle of a send leads to its destination as long as few others have been started since, also
// where numbers begin anew.
func TestNumbers(t *testing.T) {
	for _, first := range []uint32{0, 5, 1<<26 - 700, 1<<32 - 700} {
		m := Private()
		m.Sends.last = first
		handles := map[uint64]uint32{}
		var order []uint64
		for k := range uint32(3000) {
			n := m.Number(0)
			m.destinations[n%Numbers] = int32(k)
			h := SentOf(n)
			if !IsSent(h) || IsNote(h) || h == NoProc || h >= 1<<31 || h&15 != Kind {
				t.Fatalf("%#x isn't a handle of a send", h)
			}
			handles[h] = k
			order = append(order, h)
			for back := range min(k, Numbers+5) {
				h := order[k-back]
				dst, number, ok := m.Destination(h)
				if want := back < Numbers && h != Sent && n-back != 0; ok != want {
					t.Fatalf("from %d on, send %d, %d later: known %v", first, k-back, back, ok)
				}
				if ok && (uint32(dst) != k-back || number != n-back) {
					t.Fatalf("from %d on, send %d, %d later: %d to %d", first, k-back, back, number, dst)
				}
			}
		}
		if len(handles) != 3000 {
			t.Errorf("from %d on: %d handles", first, len(handles))
		}
	}
	if _, _, ok := Private().Destination(Sent); ok {
		t.Error("a send without a number is known")
	}
}
