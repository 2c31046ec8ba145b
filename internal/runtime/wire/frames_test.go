package wire

import (
	"testing"

	"banyan/internal/proto"
)

// The use of the header's fields by each kind of frame is a promise to other versions of the
// program. It is written down here, apart from the code that fills them.
func TestFramesUseTheirFields(t *testing.T) {
	var got Header
	for name, c := range map[string]struct {
		put  func(h *Header)
		want Header
		read func(h *Header) bool // tells whether it reads as what was put
	}{
		"offer": {
			func(h *Header) {
				*h = Header{Kind: KindEager, Context: 1, Seq: 2, Src: 3, Dst: 4, Tag: 5, Total: 6}
				Offer{Sender: 7, Memory: 8}.Put(h)
			},
			Header{Kind: KindOffer, Context: 1, Seq: 2, Src: 3, Dst: 4, Tag: 5, Total: 6, ID: 7, Offset: 8},
			func(h *Header) bool { return h.Offer() == Offer{7, 8} },
		},
		"eager": {
			func(h *Header) {
				*h = Header{Kind: KindEager}
				h.SetCompleted(9)
			},
			Header{Kind: KindEager, Seq: 9},
			func(h *Header) bool { return h.Completed() == 9 },
		},
		"eager with a number": {
			func(h *Header) {
				*h = Header{Kind: KindEager}
				h.SetNumber(1<<32 - 2)
				h.SetCompleted(1 << 32) // isn't said
				h.SetCompleted(7)
			},
			Header{Kind: KindEager, Seq: (1<<32-2)<<32 | 7},
			func(h *Header) bool { return h.Completed() == 7 && h.Number() == 1<<32-2 },
		},
		"retract an offer": {
			Retract{Message: 1, Request: 2}.Put,
			Header{Kind: KindRetract, ID: 1, Offset: 2},
			func(h *Header) bool { return h.Retract() == Retract{1, false, 2} },
		},
		"retract a number": {
			Retract{Message: 1, Request: 2, Eager: true}.Put,
			Header{Kind: KindRetract, ID: 1, Offset: 2, Flags: 1},
			func(h *Header) bool { return h.Retract() == Retract{1, true, 2} },
		},
		"retracted": {
			Retracted{Request: 2, Outcome: Probed}.Put,
			Header{Kind: KindRetracted, Offset: 2, Flags: 2},
			func(h *Header) bool { return h.Retracted() == Retracted{2, Probed} },
		},
		"pull": {
			Pull{Sender: 1, Receiver: 2, Wanted: 3}.Put,
			Header{Kind: KindPull, ID: 1, Offset: 2, Total: 3},
			func(h *Header) bool { return h.Pull() == Pull{1, 2, 3, false} },
		},
		"discard": {
			Pull{Sender: 1, Receiver: 2, Wanted: 3, Discard: true}.Put,
			Header{Kind: KindPull, ID: 1, Offset: 2, Total: 3, Flags: 1},
			func(h *Header) bool { return h.Pull() == Pull{1, 2, 3, true} },
		},
		"fragment": {
			Fragment{Receiver: 1, Offset: 2, Wanted: 3}.Put,
			Header{Kind: KindData, ID: 1, Offset: 2, Total: 3},
			func(h *Header) bool { return h.Fragment() == Fragment{1, 2, 3, false, 0} },
		},
		"withdrawn": {
			Fragment{Receiver: 1, Wanted: 3, Withdrawn: true, Lost: 4}.Put,
			Header{Kind: KindData, ID: 1, Total: 3, Flags: 1, Aux: 4},
			func(h *Header) bool { return h.Fragment() == Fragment{1, 0, 3, true, 4} },
		},
		"received": {
			Received{Bytes: 1 << 40}.Put,
			Header{Kind: KindReceived, Total: 1 << 40},
			func(h *Header) bool { return h.Received() == Received{1 << 40} },
		},
		"abort": {
			Abort{Code: -3}.Put,
			Header{Kind: KindAbort, Tag: -3},
			func(h *Header) bool { return h.Abort() == Abort{-3} },
		},
		"ask": {
			Ask{Context: 1, Number: 2}.Put,
			Header{Kind: KindAsk, Context: 1, Seq: 2},
			func(h *Header) bool { return h.Ask() == Ask{1, 2, false} },
		},
		"through": {
			Ask{Context: 1, Number: 2}.Answer().Put,
			Header{Kind: KindThrough, Context: 1, Seq: 2},
			func(h *Header) bool { return h.Ask() == Ask{1, 2, true} },
		},
		"revocation": {
			Revocation{Origin: 1}.Put,
			Header{Kind: KindRevocation, Aux: 1},
			func(h *Header) bool { return h.Revocation() == Revocation{1, false} },
		},
		"absent": {
			Revocation{Absent: true}.Put,
			Header{Kind: KindRevocation, Flags: 1},
			func(h *Header) bool { return h.Revocation() == Revocation{0, true} },
		},
		"broadcast": {
			(&Broadcast{Kind: KindCorrection, Context: 1, Number: 2, From: 3, To: 4, Root: 5, Shape: 6, Step: 9, Stable: 7, Bytes: 8}).Put,
			Header{Kind: KindCorrection, Context: 1, Seq: 2, Src: 3, Dst: 4, Tag: 9, Aux: 5, Flags: 6, Offset: 7, Total: 8},
			func(h *Header) bool { return h.Broadcast() == Broadcast{KindCorrection, 1, 2, 3, 4, 5, 6, 9, 7, 8} },
		},
		"heartbeat": {
			Heartbeat{Stamp{1, 1<<32 - 1}, 3, 4}.Put,
			Header{Kind: KindHeartbeat, Seq: 1, Aux: -1, Total: 3, Context: 4},
			func(h *Header) bool { return h.Heartbeat() == Heartbeat{Stamp{1, 1<<32 - 1}, 3, 4} },
		},
		"observe": {
			Observe{Stamp{1, 2}}.Put,
			Header{Kind: KindObserve, Seq: 1, Aux: 2},
			func(h *Header) bool { return h.Observe() == Observe{Stamp{1, 2}} },
		},
		"news": {
			News{Stamp: Stamp{1, 2}, Source: 3, Cube: 1, Tree: 5}.Put,
			Header{Kind: KindNews, Seq: 1, Aux: 2, Src: 3, Flags: 1, Tag: 5},
			func(h *Header) bool { return h.News() == News{Stamp{1, 2}, 3, 1, 5} },
		},
		"reconcile": {
			Reconcile{Stamp: Stamp{1, 2}}.Put,
			Header{Kind: KindReconcile, Seq: 1, Aux: 2},
			func(h *Header) bool { return h.Reconcile() == Reconcile{Stamp{1, 2}, false} },
		},
		"reconcile, and answer": {
			Reconcile{Stamp: Stamp{1, 2}, Ask: true}.Put,
			Header{Kind: KindReconcile, Seq: 1, Aux: 2, Flags: 1},
			func(h *Header) bool { return h.Reconcile() == Reconcile{Stamp{1, 2}, true} },
		},
		"eviction": {
			Eviction{Incarnation: 3}.Put,
			Header{Kind: KindEviction, Aux: 3},
			func(h *Header) bool { return h.Eviction() == Eviction{3} },
		},
		"note": {
			Note{Kind: 1, Replacement: 2, Incarnation: 3, Covers: 4}.Put,
			Header{Kind: KindNote, Flags: 1, Src: 2, Aux: 3, Context: 4},
			func(h *Header) bool { return h.Note() == Note{1, 2, 3, 4} },
		},
		"log":   {Piece{KindLog, 5}.Put, Header{Kind: KindLog, Offset: 5}, nil},
		"state": {Piece{KindState, 5}.Put, Header{Kind: KindState, Offset: 5}, nil},
	} {
		got = Header{Kind: KindGoodbye, Tag: 77} // what was there is gone
		if c.put(&got); got != c.want {
			t.Errorf("%s: got %+v, want %+v", name, got, c.want)
		}
		if c.read != nil && !c.read(&got) {
			t.Errorf("%s: %+v reads as something else", name, got)
		}
	}
}

// A negative root is possible, since the check of a header lets it pass: the incarnations of
// other kinds use the field, too.
func TestBroadcastOfANegativeRoot(t *testing.T) {
	h := Header{Kind: KindTree, Aux: -1}
	if f := h.Broadcast(); f.Root != -1 {
		t.Errorf("the root is %d", f.Root)
	}
}

func TestKindsOfBroadcasts(t *testing.T) {
	for k := range kindEnd {
		if want := k >= 7 && k <= 12; k.OfBroadcast() != want {
			t.Errorf("%v: %v", k, !want)
		}
	}
}

func TestFramesDontAllocate(t *testing.T) {
	var h Header
	f := Broadcast{Kind: KindTree, Context: 1, Number: 2, To: 4}
	if n := testing.AllocsPerRun(100, func() {
		f.Put(&h)
		f = h.Broadcast()
		Heartbeat{Stamp{1, 2}, 3, 4}.Put(&h)
		Note{Replacement: proto.Proc(h.Heartbeat().Count)}.Put(&h)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
