package qos

import "banyan/internal/proto"

// Mistake is an interval in which at least one live process declared a living one dead.
type Mistake struct {
	Of          int32
	From, Until proto.Time
	// Ended says that the mistake is over, and not just the time of observation.
	Ended bool
	// Fatal says that it ended with the end of its victim.
	Fatal bool
}

// Detection is how one crash was detected.
type Detection struct {
	Of int32
	At proto.Time // of the crash
	// Wrongly says that some process had declared this one dead before: that is no detection.
	Wrongly bool
	// First and All are when the first live process declared it dead for good, and when the last
	// did. They are Never if that hasn't come.
	First, All proto.Time
}

// History is which process declares which dead, over time. The times passed to it never run
// backwards.
type History struct {
	Mistakes   []Mistake
	Detections []Detection
	// Exposure is the time that living processes were observed, all added up.
	Exposure proto.Time

	n        int
	since    proto.Time
	live     int
	dead     []bool
	declared []bool  // by · n + of
	doubters []int32 // live processes that declare it dead
	wrong    []int32 // index of its open mistake, or -1
	crash    []int32 // index of its detection, or -1
}

// NewHistory begins one at a time with all processes living and none declared dead.
func NewHistory(n int, now proto.Time) *History {
	h := &History{
		n: n, since: now, live: n,
		dead: make([]bool, n), declared: make([]bool, n*n),
		doubters: make([]int32, n), wrong: make([]int32, n), crash: make([]int32, n),
	}
	for i := range n {
		h.wrong[i], h.crash[i] = -1, -1
	}
	return h
}

// Live is the number of living processes.
func (h *History) Live() int { return h.live }

// Declare says that a process declares another dead.
func (h *History) Declare(now proto.Time, by, of int32) {
	if h.dead[by] || by == of || h.declared[int(by)*h.n+int(of)] {
		return
	}
	h.declared[int(by)*h.n+int(of)] = true
	h.doubters[of]++
	switch {
	case !h.dead[of]:
		if h.doubters[of] == 1 {
			h.wrong[of] = int32(len(h.Mistakes))
			h.Mistakes = append(h.Mistakes, Mistake{Of: of, From: now})
		}
	case h.crash[of] >= 0:
		d := &h.Detections[h.crash[of]]
		if h.doubters[of] == 1 {
			d.First = now
		}
		if int(h.doubters[of]) == h.live {
			d.All = now
		}
	}
}

// Trust says that a process takes its declaration back.
func (h *History) Trust(now proto.Time, by, of int32) {
	if h.dead[by] || !h.declared[int(by)*h.n+int(of)] {
		return
	}
	h.declared[int(by)*h.n+int(of)] = false
	h.undoubt(now, of)
}

// undoubt removes a process from those that declare another dead.
func (h *History) undoubt(now proto.Time, of int32) {
	h.doubters[of]--
	switch {
	case !h.dead[of]:
		if h.doubters[of] == 0 {
			h.end(now, of, false)
		}
	case h.crash[of] >= 0:
		// So it wasn't for good.
		d := &h.Detections[h.crash[of]]
		d.All = proto.Never
		if h.doubters[of] == 0 {
			d.First = proto.Never
		}
	}
}

// end ends the open mistake about a process.
func (h *History) end(now proto.Time, of int32, fatal bool) {
	m := &h.Mistakes[h.wrong[of]]
	m.Until, m.Ended, m.Fatal = now, true, fatal
	h.wrong[of] = -1
}

// Crash says that a process has died. From now on its detection is timed.
func (h *History) Crash(now proto.Time, p int32) {
	if h.dead[p] {
		return
	}
	h.crash[p] = int32(len(h.Detections))
	d := Detection{Of: p, At: now, Wrongly: h.doubters[p] > 0, First: proto.Never, All: proto.Never}
	if d.Wrongly {
		d.First = now
	}
	h.Detections = append(h.Detections, d)
	h.gone(now, p)
}

// Fence says that a process has stopped because others declare it dead.
func (h *History) Fence(now proto.Time, p int32) {
	if !h.dead[p] {
		h.gone(now, p)
	}
}

// gone takes a process out: it is no longer observed, and its opinions don't count.
func (h *History) gone(now proto.Time, p int32) {
	if h.wrong[p] >= 0 {
		h.end(now, p, true)
	}
	h.Exposure += now - h.since
	h.dead[p] = true
	h.live--
	for of := range h.n {
		if h.declared[int(p)*h.n+of] {
			h.declared[int(p)*h.n+of] = false
			h.undoubt(now, int32(of))
		}
	}
	// With one fewer, all live processes may know now.
	for i := range h.Detections {
		d := &h.Detections[i]
		if d.All == proto.Never && h.live > 0 && int(h.doubters[d.Of]) == h.live {
			d.All = now
		}
	}
}

// Close ends the observation. Nothing may follow.
func (h *History) Close(now proto.Time) {
	for p := range h.n {
		if h.dead[p] {
			continue
		}
		h.Exposure += now - h.since
		if h.wrong[p] >= 0 {
			h.Mistakes[h.wrong[p]].Until = now
		}
	}
}

// Detected says whether all live processes know of every crash.
func (h *History) Detected() bool {
	for i := range h.Detections {
		if h.Detections[i].All == proto.Never {
			return false
		}
	}
	return true
}
