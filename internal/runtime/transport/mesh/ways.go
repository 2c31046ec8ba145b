package mesh

import "time"

// way is one of two ways in which large data comes from a peer that shares memory.
type way uint8

const (
	wayRead way = iota // this process reads it in the peer's memory
	wayRing            // the peer writes it into the ring, and this process copies it out meanwhile
)

// ways learns which way takes less time. That depends on the machine, on where the two processes run,
// and on whether the program has just written the data: on one machine the ring took 0.4 to 0.7 of
// the time of reading, on another 1.6 (decision 94). So it takes the way that has been faster of late,
// and now and then the other one.
type ways struct {
	cost  [2]int64 // ns for a MiB, of late; 0: unknown
	turn  int      // choices since the other way was tried
	pause int      // how many there are between two tries
}

const (
	// wayMin is the least data, in bytes, whose time counts: of less, the time is that of what comes
	// before and after.
	wayMin = 48 << 10
	// wayMost is after how many bytes that follow each other their time is taken.
	wayMost = 512 << 10
	// firstTries and lastTries are how many choices there are between two tries of the slower way:
	// each try that it loses doubles their number.
	firstTries = 8
	lastTries  = 512
	// wayShare is the share of a new time in the cost, and wayJump how much more than the cost counts:
	// a process that loses its core meanwhile says nothing of the way.
	wayShare = 4
	wayJump  = 4
)

// choose gives the way to take next.
func (w *ways) choose() way {
	better, other := wayRing, wayRead
	if w.cost[wayRead] < w.cost[wayRing] {
		better, other = wayRead, wayRing
	}
	if w.cost[other] == 0 {
		return other
	}
	if w.cost[better] == 0 {
		return better
	}
	if w.turn++; w.turn <= max(w.pause, firstTries) {
		return better
	}
	w.turn, w.pause = 0, min(2*max(w.pause, firstTries), lastTries)
	return other
}

// took notes how long data has taken.
func (w *ways) took(by way, bytes int, ns int64) {
	sample := max(ns, 1) << 20 / int64(bytes)
	c := &w.cost[by]
	if *c == 0 {
		*c = sample
		return
	}
	wasBetter := w.cost[by] < w.cost[1-by]
	*c += (min(sample, wayJump**c) - *c) / wayShare
	if *c = max(*c, 1); (*c < w.cost[1-by]) != wasBetter {
		w.pause = 0 // they have changed places: look again soon
	}
}

// inflow is the large payload that comes from a peer by the ring.
type inflow struct {
	began time.Time // zero: none that counts
	bytes int
}

// streamed notes that so many bytes of a peer's stream have been taken.
func (t *Transport) streamed(p *peer, n int) {
	f := &p.inflow
	if f.began.IsZero() {
		if p.inbox.Missing() >= wayMin {
			f.began, f.bytes = time.Now(), 0
		}
		return
	}
	if f.bytes += n; p.inbox.Large() && f.bytes < wayMost {
		return
	}
	if f.bytes >= wayMin {
		t.ways.took(wayRing, f.bytes, time.Since(f.began).Nanoseconds())
	}
	f.began = time.Time{}
}
