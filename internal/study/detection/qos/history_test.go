package qos

import (
	"reflect"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/proto"
)

// Mistakes overlap where several processes declare the same one dead. They end when the last of
// them takes it back.
func TestMistakes(t *testing.T) {
	h := NewHistory(4, 0)
	h.Declare(10, 0, 2)
	h.Declare(12, 1, 2)
	h.Declare(12, 1, 2) // said twice
	h.Trust(15, 0, 2)
	h.Trust(15, 0, 2)
	h.Trust(20, 1, 2)
	h.Declare(30, 3, 2) // a second mistake
	h.Declare(40, 0, 1) // one that doesn't end
	h.Trust(45, 3, 2)
	h.Close(100)
	want := []Mistake{
		{Of: 2, From: 10, Until: 20, Ended: true},
		{Of: 2, From: 30, Until: 45, Ended: true},
		{Of: 1, From: 40, Until: 100},
	}
	if !reflect.DeepEqual(h.Mistakes, want) {
		t.Errorf("%+v", h.Mistakes)
	}
	if h.Exposure != 400 {
		t.Errorf("exposure %d, want 4 processes for 100", h.Exposure)
	}
}

// A fenced victim ends the mistake about it, and its own declarations no longer count.
func TestFenced(t *testing.T) {
	h := NewHistory(4, 0)
	h.Declare(10, 0, 2)
	h.Declare(11, 2, 0) // it declares the other dead too
	h.Fence(15, 2)
	h.Declare(16, 1, 2) // a process that hears of it later makes no mistake
	h.Declare(17, 2, 1) // dead processes declare nothing
	h.Close(100)
	want := []Mistake{
		{Of: 2, From: 10, Until: 15, Ended: true, Fatal: true},
		{Of: 0, From: 11, Until: 15, Ended: true},
	}
	if !reflect.DeepEqual(h.Mistakes, want) {
		t.Errorf("%+v", h.Mistakes)
	}
	if h.Exposure != 315 || len(h.Detections) != 0 {
		t.Errorf("exposure %d, %d detections", h.Exposure, len(h.Detections))
	}
}

func TestDetection(t *testing.T) {
	h := NewHistory(4, 0)
	h.Crash(10, 3)
	h.Declare(15, 1, 3)
	h.Declare(17, 0, 3)
	if h.Detected() {
		t.Error("detected although process 2 doesn't know")
	}
	h.Declare(22, 2, 3)
	want := []Detection{{Of: 3, At: 10, First: 15, All: 22}}
	if !reflect.DeepEqual(h.Detections, want) || !h.Detected() {
		t.Errorf("%+v", h.Detections)
	}

	// A declaration that is taken back wasn't final.
	h.Trust(30, 1, 3)
	h.Declare(35, 1, 3)
	if d := h.Detections[0]; d.First != 15 || d.All != 35 {
		t.Errorf("%+v", d)
	}

	// The last process that doesn't know may die.
	h = NewHistory(4, 0)
	h.Crash(10, 3)
	h.Declare(15, 0, 3)
	h.Declare(16, 1, 3)
	h.Fence(20, 2)
	if d := h.Detections[0]; d.All != 20 {
		t.Errorf("%+v", d)
	}

	// A crash of a process that was declared dead before isn't detected by that declaration.
	h = NewHistory(4, 0)
	h.Declare(5, 0, 3)
	h.Crash(10, 3)
	if d := h.Detections[0]; !d.Wrongly || !h.Mistakes[0].Fatal || h.Mistakes[0].Until != 10 {
		t.Errorf("%+v, %+v", d, h.Mistakes[0])
	}
}

// In any history the counts agree with the events counted, mistakes of one process don't
// overlap, and the exposure is that of the live processes.
func TestHistoryAccounts(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 6).Draw(t, "n")
		h := NewHistory(n, 0)
		died := make([]proto.Time, n)
		for p := range died {
			died[p] = proto.Never
		}
		now := proto.Time(0)
		node := rapid.Int32Range(0, int32(n-1))
		for range rapid.IntRange(0, 60).Draw(t, "events") {
			now += proto.Time(rapid.IntRange(0, 3).Draw(t, "pause"))
			by, of := node.Draw(t, "by"), node.Draw(t, "of")
			switch rapid.IntRange(0, 9).Draw(t, "event") {
			case 0:
				h.Crash(now, by)
			case 1:
				h.Fence(now, by)
			case 2, 3, 4:
				h.Trust(now, by, of)
			default:
				h.Declare(now, by, of)
			}
			for p := range n {
				if h.dead[p] && died[p] == proto.Never {
					died[p] = now
				}
				doubters := int32(0)
				for q := range n {
					if h.declared[q*n+p] {
						doubters++
					}
				}
				if doubters != h.doubters[p] || (h.wrong[p] >= 0) != (doubters > 0 && !h.dead[p]) {
					t.Fatalf("process %d: %d doubters, counted %d, mistake %d", p, doubters, h.doubters[p], h.wrong[p])
				}
			}
		}
		h.Close(now)
		exposure := proto.Time(0)
		for p := range n {
			exposure += min(died[p], now)
		}
		if exposure != h.Exposure {
			t.Fatalf("exposure %d, counted %d", exposure, h.Exposure)
		}
		last := make([]proto.Time, n)
		for _, m := range h.Mistakes {
			if m.From < last[m.Of] || m.Until < m.From || m.Fatal && !m.Ended {
				t.Fatalf("%+v after one until %d", m, last[m.Of])
			}
			last[m.Of] = m.Until
		}
		for _, d := range h.Detections {
			if d.All != proto.Never && (d.First > d.All || d.All < d.At) {
				t.Fatalf("%+v", d)
			}
		}
	})
}
