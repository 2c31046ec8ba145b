package mesh

import "time"

// way is one of two ways in which large data comes from a peer that shares memory.
type way uint8

const (
	wayRing way = iota // the peer writes it into the ring, and this process copies it out meanwhile
	wayRead            // this process reads it in the peer's memory
)

// ways learns which way takes less time. That depends on the machine, on where the two processes run,
// on whether the program has just written the data, and on whether the other process wants data of
// this one at the same time (decision 94). So it takes the way that has been faster of late, and now
// and then it tries the other one.
type ways struct {
	cost  [2]int64 // ns for a MiB, of late; 0: unknown
	last  way      // that was taken
	row   int      // how many times of it have come since the way changed
	turns int      // choices until the other way is tried
	pause int      // how many there were between the last two tries
}

const (
	// wayMin is the least data, in bytes, whose time counts: of less, the time is that of what comes
	// before and after.
	wayMin = 48 << 10
	// wayMost is after how many bytes that follow each other their time is taken.
	wayMost = 512 << 10
	// wayRow is how often in a row a way is tried, and waySettle how many of these times don't count:
	// a way leaves the data in other caches than the other does, which the first ones pay for.
	wayRow    = 6
	waySettle = 3
	// wayFirst and wayLast are how many choices there are between two tries of the slower way.
	// Each that it loses doubles their number.
	wayFirst = 32
	wayLast  = 1024
	// wayShare is the share of a new time in the cost, and wayJump how much more than the cost counts:
	// a process that loses its core meanwhile says nothing of the way.
	wayShare = 4
	wayJump  = 4
)

// choose gives the way to take next.
func (w *ways) choose() way {
	other := 1 - w.last
	switch {
	case w.row < wayRow: // it is being tried
		return w.last
	case w.cost[other] == 0:
	case w.cost[other] < w.cost[w.last]:
		w.turns = w.pause
	case w.turns > 0:
		w.turns--
		return w.last
	default:
		w.pause = min(max(2*w.pause, wayFirst), wayLast)
		w.turns = w.pause
	}
	w.last, w.row = other, 0
	return other
}

// took notes how long data has taken.
func (w *ways) took(by way, bytes int, ns int64) {
	if by != w.last {
		return
	}
	if w.row++; w.row <= waySettle {
		return
	}
	sample := max(ns, 1) << 20 / int64(bytes)
	c := &w.cost[by]
	if *c == 0 {
		*c = max(sample, 1)
		return
	}
	was := w.cost[1-by] < *c
	sample = min(sample, wayJump**c)
	if w.row > waySettle+1 { // else what was known is old
		sample = *c + (sample-*c)/wayShare
	}
	*c = max(sample, 1)
	if (w.cost[1-by] < *c) != was {
		w.pause, w.turns = 0, wayFirst // they have changed places: look again soon
	}
}

// inflow is the large data of a peer that this process has asked for.
type inflow struct {
	since time.Time // when it was asked for, or when what came before it was there; zero: none is awaited
	left  int       // bytes that are awaited
	bytes int       // that have come since
}

// asked notes that so many bytes are asked for.
func (f *inflow) asked(bytes int) {
	if f.left == 0 {
		f.since, f.bytes = time.Now(), 0
	}
	f.left += bytes
}

// streamed notes that so many bytes of a peer's stream have been taken. What the peer sends unasked
// counts, too.
func (t *Transport) streamed(p *peer, n int) {
	f := &p.inflow
	if f.left == 0 {
		return
	}
	f.bytes += n
	f.left = max(f.left-n, 0)
	if f.left > 0 && f.bytes < wayMost {
		return
	}
	now := time.Now()
	t.ways.took(wayRing, f.bytes, now.Sub(f.since).Nanoseconds())
	f.since, f.bytes = now, 0
}
