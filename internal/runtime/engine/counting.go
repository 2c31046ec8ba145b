package engine

import (
	"banyan/internal/counters"
	"banyan/internal/proto"
	"banyan/internal/proto/match"
)

// Where the process is watched, the engine copies what it and the machines have counted anyway into
// a page that the agent reads (package counters). It does so a few times a second, off the path of
// messages: in the slow part of tick, which heartbeats come through, and in the progress thread.
// Only what the program waits for is found out for this alone.

// countEvery is how often the page is written.
const countEvery = proto.Time(400e6)

// counting is what the engine knows of the page.
type counting struct {
	page       *counters.Page // nil: nobody watches
	next       proto.Time
	last       counters.Record
	volume     uint64       // what the transport said last
	bytes      uint64       // in all
	since      proto.Time   // of last.Waits
	progress   uint64       // then
	counts     match.Counts // of matching, where nothing else has them
	safepoints uint64
	expected   uint64 // of them, by the program's word; 0: it hasn't said
}

// volume is an optional part of a transport: how many bytes it has sent over what it has now.
type volume interface{ Volume() uint64 }

// beginCounting prepares the page.
func (e *Engine) beginCounting() {
	if e.cfg.Process.Counts == nil {
		e.cfg.Process.Counts = &e.counted.counts
	}
	e.counted.page = e.cfg.Counters
	e.safe.counting = e.counted.page != nil
}

// count writes the page, if it is time. The lock is held.
func (e *Engine) count() {
	c := &e.counted
	if c.page == nil {
		return
	}
	if e.span.open != nil || c.page.Asked() != e.span.number {
		e.lookForSpan()
	}
	now := e.now()
	if now < c.next {
		return
	}
	c.next = now + countEvery
	r := e.record()
	r.Stamp = c.last.Stamp + 1
	if text, first, waits := e.explain(); waits {
		r.Waits, r.WaitsFor = text, first
	}
	progress := e.p.Changes + e.sends + e.shared.Sent + e.shared.Polls
	if r.Waits != c.last.Waits || progress != c.progress {
		c.since, c.progress = now, progress
	}
	if r.Waits != "" {
		r.Waited = uint64(now - c.since)
	}
	c.last = r
	c.page.Write(&r)
}

// Counted is what the process has counted until now, but for what it waits for.
func (e *Engine) Counted() counters.Record {
	e.lock()
	defer e.mu.Unlock()
	return e.record()
}

// record is Counted with the lock held.
func (e *Engine) record() counters.Record {
	c := &e.counted
	r := counters.Record{
		Frames: e.p.FramesSent + e.shared.Sent, Sent: e.sends + e.shared.Sent, Bytes: c.bytes, Read: e.p.BytesRead,
		Safepoints: c.safepoints, Expected: c.expected, Rounds: e.p.Heartbeats.Sent, Late: e.p.Heartbeats.Late, WaitsFor: counters.NoRank,
	}
	if e.back != nil { // which counts them, and takes the count back with the state
		r.Safepoints = e.back.part.Passed()
	}
	if v, ok := e.tr.(volume); ok {
		n := v.Volume()
		if n > c.volume { // else a link has gone, with its count
			c.bytes += n - c.volume
		}
		c.volume, r.Bytes = n, c.bytes
	}
	counts := e.cfg.Process.Counts
	r.Posted, r.Unexpected = uint64(max(0, counts.Posted)), uint64(max(0, counts.Unexpected))
	messages, bytes := e.p.Retained()
	r.Retained, r.RetainedBytes = uint64(messages), bytes
	return r
}
