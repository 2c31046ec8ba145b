package oneworld

import (
	"slices"
	"strings"

	"banyan/internal/job/recovery"
	"banyan/internal/proto"
)

// The output of the job. An agent keeps what its processes write, by rank and offset, until the
// console has acknowledged it, and hands that on to the agent of a replacement (lead.go). The
// console writes each byte of a rank once, whichever replica it comes from, to a file for each
// rank. A console that is attached after the death of another goes on behind what the files hold.

// tap is what an agent has read from one process.
type tap struct {
	r        *rank
	from     int // the offset of text
	text     string
	sent     int // how much of it was sent to the present console
	begun    bool
	ended    bool
	complete bool // the process left in order: this is all there is
	closed   bool // the console has been told of the end
	known    bool // and has acknowledged it
}

// console is the party that shows output.
type console struct {
	on      *host // nil: there is none
	number  int
	shown   proto.Time // when something was shown last, or the console was attached
	files   []string
	whole   []bool   // a replica that left in order has written no more
	leader  []*rank  // of the canary that doesn't look at offsets
	waiting [][]part // behind a gap
	due     bool
}

// part is a piece of output.
type part struct {
	by     *rank
	offset int
	text   string
	last   bool // the process left in order after it
}

func newConsole(ranks int) console {
	return console{files: make([]string, ranks), whole: make([]bool, ranks), leader: make([]*rank, ranks), waiting: make([][]part, ranks)}
}

// tapped takes what a process has written.
func (h *host) tapped(r *rank, offset int, text string) {
	for _, t := range h.taps {
		if t.r != r {
			continue
		}
		if !t.begun {
			t.begun, t.from = true, offset
		}
		if t.from+len(t.text) != offset {
			h.w.fail("%v writes at offset %d, not %d", r, offset, t.from+len(t.text))
		}
		t.text += text
	}
	h.sendOutput()
}

// tap finds what was read from a process.
func (h *host) tap(p recovery.Process) *tap {
	for _, t := range h.taps {
		if t.r.self == p.Proc && t.r.incarnation == p.Incarnation {
			return t
		}
	}
	return nil
}

// keep takes what the agent of a donor keeps, before the replacement has written anything. It says
// whether it has it.
func (h *host) keep(p recovery.Process, kept *tap) bool {
	t := h.tap(p)
	if t == nil || t.begun {
		return t != nil
	}
	t.begun, t.from, t.text = kept.begun, kept.from, kept.text
	h.sendOutput()
	return true
}

// sendOutput sends the console what it hasn't been sent.
func (h *host) sendOutput() {
	w, c := h.w, &h.w.console
	if c.on == nil {
		return
	}
	number := c.number
	for _, t := range h.taps {
		if t.sent == len(t.text) && (!t.complete || t.closed) {
			continue
		}
		x := part{by: t.r, offset: t.from + t.sent, text: t.text[t.sent:], last: t.complete}
		if !t.begun {
			x.offset = -1
		}
		t.sent, t.closed = len(t.text), t.complete
		w.tell(h, c.on, func() { w.show(number, x) })
	}
}

// show takes a piece of output at a console.
func (w *world) show(number int, x part) {
	c := &w.console
	if c.number != number || c.on == nil {
		return
	}
	c.shown = w.now
	rank := w.layout.Rank(x.by.self)
	if w.bug == NoOffsets {
		if l := c.leader[rank]; l == nil || l.dead && !l.left {
			c.leader[rank] = x.by
		}
		if c.leader[rank] == x.by {
			c.files[rank] += x.text
		}
		c.whole[rank] = c.whole[rank] || x.last
	} else {
		c.waiting[rank] = append(c.waiting[rank], x)
		for again := true; again; {
			again = false
			for i, x := range c.waiting[rank] {
				have := len(c.files[rank])
				if x.offset < 0 {
					x.offset = have
				}
				if x.offset > have {
					continue
				}
				if new := x.offset + len(x.text) - have; new > 0 {
					c.files[rank] += x.text[len(x.text)-new:]
				}
				c.whole[rank] = c.whole[rank] || x.last
				c.waiting[rank] = append(c.waiting[rank][:i:i], c.waiting[rank][i+1:]...)
				again = true
				break
			}
		}
	}
	w.checkOutput(rank)
	if !c.due {
		c.due = true
		w.after(20*ms, func() {
			c.due = false
			if on := c.on; on != nil && c.number == number {
				on.agentDo(w.acknowledge)
			}
		})
	}
}

// acknowledge tells all agents what the console has.
func (w *world) acknowledge() {
	c := &w.console
	if c.on == nil {
		return
	}
	have := make([]int, len(c.files))
	for r := range have {
		have[r] = len(c.files[r])
	}
	whole := append([]bool(nil), c.whole...)
	for _, h := range w.hosts {
		if h.witness != nil {
			continue
		}
		w.tell(c.on, h, func() {
			h.forget(have, whole)
			if h.lead != nil {
				h.lead.complete(whole)
			}
		})
	}
}

// forget drops output that the console has.
func (h *host) forget(have []int, whole []bool) {
	for _, t := range h.taps {
		t.known = t.known || whole[h.w.layout.Rank(t.r.self)]
		n := have[h.w.layout.Rank(t.r.self)] - t.from
		if n = min(max(n, 0), t.sent); n > 0 {
			t.from, t.text, t.sent = t.from+n, t.text[n:], t.sent-n
		}
	}
}

// holdsOutput says whether an agent has output that no console has acknowledged.
func (h *host) holdsOutput() bool {
	return slices.ContainsFunc(h.taps, func(t *tap) bool { return t.text != "" || t.complete && !t.known })
}

// attach begins a console on a host.
func (w *world) attach(h *host) {
	c := &w.console
	c.number++
	c.on, c.shown = h, w.now
	for r := range c.waiting {
		c.waiting[r], c.leader[r] = nil, nil
	}
	h.logf("the console is here")
	number := c.number
	for _, x := range w.hosts {
		if x.witness == nil {
			w.tell(h, x, func() { x.greeted(number) })
		}
	}
	w.repeat(number)
}

// greeted has an agent send all that isn't acknowledged to a new console.
func (h *host) greeted(number int) {
	if h.w.console.number != number {
		return
	}
	if h.w.bug != SentOnce {
		for _, t := range h.taps {
			t.sent, t.closed = 0, false
		}
	}
	h.sendOutput()
}

// boredom is how long a console shows nothing before its user attaches another one: the network may
// be cut between it and the agents.
const boredom = 15 * second

// repeat has the console say from time to time what it has: the steward may be another one now.
func (w *world) repeat(number int) {
	w.after(500*ms, func() {
		c := &w.console
		if c.number != number || c.on == nil || c.on.over {
			return
		}
		if w.now-c.shown > boredom {
			w.consoleLost()
			return
		}
		c.on.agentDo(func() {
			if c.number == number {
				w.acknowledge()
			}
		})
		w.repeat(number)
	})
}

// consoleLost ends the console with its host. Another one is attached a little later.
func (w *world) consoleLost() {
	c := &w.console
	if c.on == nil {
		return
	}
	c.on.logf("the console is gone")
	c.on = nil
	c.number++
	w.reattach()
}

func (w *world) reattach() {
	w.after(500*ms+w.upTo(3*second), func() {
		var up []*host
		for _, h := range w.hosts {
			if h.agent != nil && !h.dead && !h.agentDead && !h.over {
				up = append(up, h)
			}
		}
		if len(up) == 0 || w.console.on != nil {
			return
		}
		h := up[w.rng.IntN(len(up))]
		if h.agent.Held() {
			w.attach(h)
		} else {
			w.reattach()
		}
	})
}

// checkOutput compares what the console has shown with the undisturbed output.
func (w *world) checkOutput(r proto.Rank) {
	if have := w.console.files[r]; !strings.HasPrefix(w.expected[r], have) {
		w.fail("the output of %v isn't that of an undisturbed run:\n%s", r, differs(w.expected[r], have))
	}
}

// differs shows where two texts begin to differ.
func differs(want, have string) string {
	i := 0
	for i < len(want) && i < len(have) && want[i] == have[i] {
		i++
	}
	i = strings.LastIndexByte(have[:i], '\n') + 1
	return "want " + first(want[min(i, len(want)):]) + "\nhave " + first(have[i:])
}

func first(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
