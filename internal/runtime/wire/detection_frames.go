package wire

import "banyan/internal/proto"

// Stamp is a part of every frame of the detector but KindEviction: in which view the sender
// is, and in which incarnation of its own.
type Stamp struct {
	View        uint32
	Incarnation proto.Incarnation
}

func (s Stamp) put(h *Header, k Kind) {
	*h = Header{Kind: k, Seq: uint64(s.View), Aux: int32(s.Incarnation)}
}

// Stamp reads the Stamp of a frame of the detector.
func (h *Header) Stamp() Stamp {
	return Stamp{View: uint32(h.Seq), Incarnation: proto.Incarnation(h.Aux)}
}

// Heartbeat is a KindHeartbeat. Count is the number of those that the sender knows to be
// gone, and Hash their digest.
type Heartbeat struct {
	Stamp
	Count uint32
	Hash  uint64
}

// Put makes h the header of the frame.
func (f Heartbeat) Put(h *Header) {
	f.put(h, KindHeartbeat)
	h.Context, h.Total = f.Hash, uint64(f.Count)
}

// Heartbeat reads a KindHeartbeat.
func (h *Header) Heartbeat() Heartbeat {
	return Heartbeat{Stamp: h.Stamp(), Count: uint32(h.Total), Hash: h.Context}
}

// Observe is a KindObserve.
type Observe struct{ Stamp }

// Put makes h the header of the frame.
func (f Observe) Put(h *Header) { f.put(h, KindObserve) }

// Observe reads a KindObserve.
func (h *Header) Observe() Observe { return Observe{h.Stamp()} }

// News is a KindNews: a broadcast of deaths by Source, along a tree of a hypercube.
type News struct {
	Stamp
	Source proto.Proc
	Cube   uint8
	Tree   uint8
}

// Put makes h the header of the frame.
func (f News) Put(h *Header) {
	f.put(h, KindNews)
	h.Src, h.Tag, h.Flags = proto.Rank(f.Source), int32(f.Tree), f.Cube
}

// News reads a KindNews.
func (h *Header) News() News {
	return News{Stamp: h.Stamp(), Source: proto.Proc(h.Src), Cube: h.Flags, Tree: uint8(h.Tag)}
}

// Reconcile is a KindReconcile. Ask asks for the receiver's list in return.
type Reconcile struct {
	Stamp
	Ask bool
}

// Put makes h the header of the frame.
func (f Reconcile) Put(h *Header) {
	if f.put(h, KindReconcile); f.Ask {
		h.Flags = flagSet
	}
}

// Reconcile reads a KindReconcile.
func (h *Header) Reconcile() Reconcile { return Reconcile{Stamp: h.Stamp(), Ask: h.Flags == flagSet} }

// Probe is a KindProbe: Observer wants to know whether Suspect lives. Stage says how far the
// question or the answer has come; Answerer is the suspect's incarnation in an answer.
type Probe struct {
	Stamp
	Stage             uint8
	Observer, Suspect proto.Proc
	Answerer          proto.Incarnation
}

// Put makes h the header of the frame.
func (f Probe) Put(h *Header) {
	f.put(h, KindProbe)
	h.Flags, h.Src, h.Dst, h.Context = f.Stage, proto.Rank(f.Observer), proto.Rank(f.Suspect), uint64(f.Answerer)
}

// Probe reads a KindProbe.
func (h *Header) Probe() Probe {
	return Probe{
		Stamp: h.Stamp(), Stage: h.Flags, Observer: proto.Proc(h.Src), Suspect: proto.Proc(h.Dst),
		Answerer: proto.Incarnation(h.Context),
	}
}

// Eviction is a KindEviction: the job counts the receiver's incarnations up to this one
// among the dead.
type Eviction struct{ Incarnation proto.Incarnation }

// Put makes h the header of the frame.
func (f Eviction) Put(h *Header) { *h = Header{Kind: KindEviction, Aux: int32(f.Incarnation)} }

// Eviction reads a KindEviction.
func (h *Header) Eviction() Eviction { return Eviction{proto.Incarnation(h.Aux)} }
