package mesh

import (
	"strconv"
	"testing"
	"time"

	"banyan/internal/runtime/wire"
)

// A process that is killed leaves what it has kept before the last frame that has come from it,
// whether the peer hears of the death first or fences the process while it lives.
func TestKeptByTheDead(t *testing.T) {
	for i := range 6 {
		tr, cmd, _ := startChild(t, roleKeep, SharedMemory)
		w := &witness{t: t}
		for end := time.Now().Add(time.Duration(i)*time.Millisecond + 50*time.Millisecond); time.Now().Before(end) || w.frames < 30; {
			tr.Send(1, &wire.Header{Kind: wire.KindDone}, nil, 0)
			tr.Poll(w)
		}
		fences := i%2 == 0
		if !fences {
			cmd.Process.Kill()
			watch(t, tr, w, "the end", func() bool { return w.closed > 0 })
		}
		var last uint64
		look := func(final bool) {
			last = 0
			tr.Kept(1, final, func(number uint64, record []byte) {
				if string(record) != strconv.FormatUint(number, 10) || last != 0 && number != last+1 {
					t.Fatalf("record %d is %q, after %d", number, record, last)
				}
				last = number
			})
		}
		look(false)
		for look(true); fences; fences = false {
			before := last
			tr.Fence(1)
			if look(true); last != before {
				t.Errorf("the last record was %d, and is %d", before, last)
			}
		}
		if last < w.frames {
			t.Errorf("frame %d has come, and of the records %d is the last", w.frames, last)
		}
	}
}

// Nothing is kept for a peer that shares no memory, or isn't connected.
func TestNothingKept(t *testing.T) {
	tr, _, _ := startChild(t, roleEcho, Sockets)
	w := &witness{t: t}
	watch(t, tr, w, "a frame", func() bool { return w.frames > 0 })
	if tr.Keep(1, 1, nil) {
		t.Error("kept without shared memory")
	}
	tr.Kept(1, true, func(uint64, []byte) { t.Error("something is kept") })
}
