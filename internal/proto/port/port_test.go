package port

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"banyan/internal/testing/explore"
)

// world is a port, some callers and some calls. Messages between the port and a caller keep their
// order. All may die, give up, be cancelled or closed at each point.
type world struct {
	m       Machine
	callers []player
	calls   []call
	dead    bool // the port's process
	closed  bool
	canary  string
}

// player is a caller, with what is under way.
type player struct {
	Caller
	came, gone, known bool   // it has called; it is dead or has given up; the port knows that
	down              []Kind // from the port
	up                int    // takes, to the port
}

// call is a call of the program at the port.
type call struct {
	begun, over bool
	with        int // the caller that it is matched with; -1: none
}

type event struct {
	kind string
	who  int
}

func (e event) String() string { return fmt.Sprintf("%s %d", e.kind, e.who) }

func (w *world) Events(dst []event) []event {
	for i := range w.callers {
		switch c := &w.callers[i]; {
		case !c.came:
			dst = append(dst, event{"calls", i})
		case !c.gone:
			if len(c.down) > 0 {
				dst = append(dst, event{"hears", i})
			} else if w.dead && c.State <= Took {
				dst = append(dst, event{"loses", i})
			}
			dst = append(dst, event{"goes", i})
			if c.up > 0 && !w.dead {
				dst = append(dst, event{"takes", i})
			}
		case !c.known && !w.dead:
			if c.up > 0 {
				dst = append(dst, event{"takes", i})
			} else {
				dst = append(dst, event{"missed", i})
			}
		}
	}
	if w.dead {
		return dst
	}
	for i := range w.calls {
		if c := &w.calls[i]; !c.begun {
			dst = append(dst, event{"accepts", i})
		} else if !c.over {
			dst = append(dst, event{"cancels", i})
		}
	}
	if !w.closed {
		dst = append(dst, event{"closes", 0})
	}
	return append(dst, event{"port dies", 0})
}

func (w *world) Apply(e event) error {
	var out Actions
	switch e.kind {
	case "calls":
		w.callers[e.who].came = true
		if !w.dead {
			w.m.Arrive(e.who, &out)
		}
	case "hears":
		c := &w.callers[e.who]
		k := c.down[0]
		c.down = c.down[1:]
		if c.Hear(k) {
			c.up++
		}
		if c.State == Broken {
			return fmt.Errorf("caller %d can't understand %d", e.who, k)
		}
	case "loses":
		w.callers[e.who].Lose()
	case "takes":
		w.callers[e.who].up--
		w.m.Take(e.who, &out)
	case "goes":
		w.callers[e.who].gone = true
	case "missed":
		w.callers[e.who].known = true
		if w.canary != "keeps the dead" {
			w.m.Gone(e.who, &out)
		}
	case "accepts":
		w.calls[e.who].begun = true
		w.m.Accept(e.who, &out)
	case "cancels":
		if w.canary == "cancel drops the caller" {
			if i := slices.IndexFunc(w.m.callers, func(c caller) bool { return c.offered }); i >= 0 {
				w.m.callers = slices.Delete(w.m.callers, i, i+1)
			}
		}
		w.m.Cancel(e.who, &out)
	case "closes":
		w.closed = true
		if w.canary == "closes without a word" {
			w.m.callers = nil
		}
		w.m.Close(&out)
	case "port dies":
		w.dead = true
	}
	for _, a := range out {
		if err := w.act(a); err != nil {
			return err
		}
	}
	if w.canary == "binds at the offer" {
		for i := range w.m.callers {
			w.m.callers[i].taken = w.m.callers[i].offered
		}
	}
	return w.together()
}

func (w *world) act(a Action) error {
	switch a.Kind {
	case Matched, Ended:
		c := &w.calls[a.Call]
		if c.over {
			return fmt.Errorf("call %d ends twice", a.Call)
		}
		c.over = true
		if a.Kind == Matched {
			c.with = a.Caller
			for i, d := range w.calls {
				if i != a.Call && d.with == a.Caller {
					return fmt.Errorf("calls %d and %d have caller %d", i, a.Call, a.Caller)
				}
			}
			if c := &w.callers[a.Caller]; c.State == Waits && !c.gone {
				return fmt.Errorf("caller %d is matched without its consent", a.Caller)
			}
		}
	default:
		c := &w.callers[a.Caller]
		if c.known && w.canary == "" {
			return fmt.Errorf("a message to caller %d, which is known to be gone", a.Caller)
		}
		c.down = append(c.down, a.Kind)
	}
	return nil
}

// together checks that who is bound is matched, and that nobody waits who needn't.
func (w *world) together() error {
	quiet := !w.dead
	for i := range w.callers {
		c := &w.callers[i]
		if c.State == Bound && !slices.ContainsFunc(w.calls, func(d call) bool { return d.with == i }) {
			return fmt.Errorf("caller %d is bound to no call", i)
		}
		quiet = quiet && c.up == 0 && (c.gone && c.known || !c.gone && len(c.down) == 0)
	}
	if !quiet {
		return nil
	}
	accepts := slices.ContainsFunc(w.calls, func(c call) bool { return c.begun && !c.over })
	for i := range w.callers {
		if c := &w.callers[i]; c.came && !c.gone && c.State <= Took && (accepts || w.closed) {
			return fmt.Errorf("caller %d waits, with a call or at a closed port", i)
		}
	}
	if accepts && w.closed {
		return errors.New("a call waits at a closed port")
	}
	return nil
}

func (w *world) End() error {
	for i := range w.callers {
		if c := &w.callers[i]; c.came && !c.gone && c.State <= Took {
			return fmt.Errorf("caller %d waits for ever", i)
		}
	}
	return nil
}

func (w *world) Clone() *world {
	c := *w
	c.m.callers, c.m.calls = slices.Clone(w.m.callers), slices.Clone(w.m.calls)
	c.callers, c.calls = slices.Clone(w.callers), slices.Clone(w.calls)
	for i := range c.callers {
		c.callers[i].down = slices.Clone(c.callers[i].down)
	}
	return &c
}

func (w *world) AppendKey(dst []byte) []byte {
	return fmt.Appendf(dst, "%v%v%v%v%v", w.m, w.callers, w.calls, w.dead, w.closed)
}

func newWorld(callers, calls int, canary string) *world {
	w := &world{callers: make([]player, callers), calls: make([]call, calls), canary: canary}
	for i := range w.calls {
		w.calls[i].with = -1
	}
	return w
}

func TestExhaustive(t *testing.T) {
	for _, n := range [][2]int{{1, 1}, {1, 2}, {2, 1}, {2, 2}} {
		stats, err := explore.All(newWorld(n[0], n[1], ""), 2_000_000)
		if err != nil {
			t.Errorf("%d callers, %d calls: %v", n[0], n[1], err)
		}
		t.Logf("%d callers, %d calls: %+v", n[0], n[1], stats)
	}
}

func TestRandom(t *testing.T) {
	for seed := range uint64(300) {
		if err := explore.Random(newWorld(6, 5, ""), seed+1, 1000); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCanaries shows that the exploration finds mistakes.
func TestCanaries(t *testing.T) {
	for _, canary := range []string{"keeps the dead", "cancel drops the caller", "closes without a word", "binds at the offer"} {
		if _, err := explore.All(newWorld(2, 2, canary), 2_000_000); err == nil {
			t.Errorf("%s: nothing was found", canary)
		} else {
			t.Logf("%s: %v", canary, err)
		}
	}
}

// TestOrder shows that callers are served in their order, and that one that has gone uses up no
// call.
func TestOrder(t *testing.T) {
	var m Machine
	var out Actions
	m.Arrive(0, &out)
	m.Arrive(1, &out)
	m.Accept(7, &out)
	m.Gone(0, &out)
	m.Take(1, &out)
	want := Actions{{Kind: Offer, Caller: 0}, {Kind: Offer, Caller: 1}, {Bind, 1, 7}, {Matched, 1, 7}}
	if !slices.Equal(out, want) {
		t.Errorf("got %v, want %v", out, want)
	}
}
