package loggp

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/study/field"
)

// word is what the test's frames carry.
type word struct {
	class Class
	text  string
}

func (w word) Class() Class { return w.class }

// script is a node that does something at each of some times, and notes what it takes and when.
type script struct {
	at   []proto.Time
	do   func(p *Port[word], at proto.Time)
	took []string
	acts int
	wait func(p *Port[word]) bool // nil: every frame wakes it
}

func (s *script) Act(p *Port[word], end proto.Time) proto.Time {
	s.acts++
	for len(s.at) > 0 && s.at[0] < end {
		s.do(p, s.at[0])
		s.at = s.at[1:]
	}
	for p.NextUrgent() < end {
		f := p.TakeUrgent()
		s.took = append(s.took, fmt.Sprintf("%d! %s", f.At, f.Body.text))
	}
	if s.wait == nil || s.wait(p) {
		for p.Next() < end {
			f := p.Take()
			s.took = append(s.took, fmt.Sprintf("%d %s", f.At, f.Body.text))
		}
	}
	wake := proto.Never
	if s.wait == nil {
		p.Ignore(0)
		wake = p.Next()
	} else if s.wait(p) {
		wake = max(end, p.Next())
	}
	if len(s.at) > 0 {
		wake = min(wake, s.at[0])
	}
	return wake
}

func play(t *testing.T, m Model, workers int, nodes ...*script) {
	t.Helper()
	var list []Node[word]
	for _, n := range nodes {
		list = append(list, n)
	}
	if err := New(m, list, workers).Run(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
}

func expect(t *testing.T, n *script, want ...string) {
	t.Helper()
	if !slices.Equal(n.took, want) {
		t.Errorf("took %q, want %q", n.took, want)
	}
}

// Frames leave one after the other, g or s·G apart, and take L + s·G.
func TestSend(t *testing.T) {
	m := Model{Latency: 100, Gap: 10, PerByte: 2}
	receiver := &script{}
	sender := &script{at: []proto.Time{0, 500}, do: func(p *Port[word], at proto.Time) {
		p.Send(at, 1, 1, word{text: "a"})
		p.Send(at, 1, 20, word{text: "b"})
		p.Send(at+1, 1, 1, word{text: "c"})
	}}
	play(t, m, 1, sender, receiver)
	// a leaves at 0, b at 10, c at 50. When the last byte of b has arrived the first of c does.
	expect(t, receiver, "102 a", "150 b", "152 c", "602 a", "650 b", "652 c")
}

// The receiver's port takes frames of different sizes in the order of their first bytes, and none
// costs more than its own time.
func TestReceiveSizes(t *testing.T) {
	m := Model{Latency: 100, Gap: 10, PerByte: 2}
	send := func(size uint32, text string) func(*Port[word], proto.Time) {
		return func(p *Port[word], at proto.Time) { p.Send(at, 0, size, word{text: text}) }
	}
	receiver := &script{}
	play(t, m, 1, receiver,
		&script{at: []proto.Time{0, 1000}, do: send(50, "large")},    // first bytes at 100 and 1100
		&script{at: []proto.Time{30, 995}, do: send(1, "small")},     // at 130 and 1095: occupies the port to 1105
		&script{at: []proto.Time{101, 1201}, do: send(20, "medium")}, // at 201 and 1301
	)
	expect(t, receiver, "200 large", "202 small", "250 medium", "1097 small", "1205 large", "1341 medium")
}

// Two frames that come together are through the receiver's port one after the other.
func TestReceive(t *testing.T) {
	m := Model{Latency: 100, Gap: 10, PerByte: 1}
	receiver := &script{}
	sender := func(name string) *script {
		return &script{at: []proto.Time{0}, do: func(p *Port[word], at proto.Time) { p.Send(at, 0, 40, word{text: name}) }}
	}
	play(t, m, 1, receiver, sender("a"), sender("b"), sender("c"))
	expect(t, receiver, "140 a", "180 b", "220 c")
}

// What is posted takes no time of a port. An urgent frame comes although frames are ignored.
func TestPostAndIgnore(t *testing.T) {
	m := Model{Latency: 100}
	listens := proto.Time(1000)
	receiver := &script{wait: func(p *Port[word]) bool {
		p.Ignore(listens)
		return false
	}}
	receiver.at, receiver.do = []proto.Time{0, 1000}, func(p *Port[word], at proto.Time) {
		if at == listens {
			receiver.wait = nil
		}
	}
	sender := &script{at: []proto.Time{0}, do: func(p *Port[word], at proto.Time) {
		p.Send(at, 0, 1, word{text: "early"})
		p.Post(at+300, 0, word{Urgent, "now"})
		p.Post(at+1500, 0, word{text: "late"})
	}}
	play(t, m, 1, receiver, sender)
	expect(t, receiver, "300! now", "100 early", "1500 late")
}

// Patient frames wake a node when there are enough, and quiet ones never; a prompt one does.
func TestAwait(t *testing.T) {
	m := Model{Latency: 100}
	for _, c := range []struct {
		class []Class
		want  int // acts of the receiver, with the first
	}{
		{[]Class{Patient, Patient}, 1}, {[]Class{Patient, Patient, Patient}, 2}, {[]Class{Quiet, Quiet, Quiet, Quiet}, 1},
		{[]Class{Patient, Prompt}, 2}, {[]Class{Quiet, Urgent}, 2},
	} {
		receiver := &script{wait: func(p *Port[word]) bool { return p.Await(3, 1000, proto.Never) != proto.Never }}
		sender := &script{do: func(p *Port[word], at proto.Time) {
			class := c.class[0]
			c.class = c.class[1:]
			p.Send(at, 0, 1, word{class: class})
		}}
		for i := range c.class {
			sender.at = append(sender.at, proto.Time(1000*i))
		}
		name := fmt.Sprint(c.class)
		play(t, m, 1, receiver, sender)
		if receiver.acts != c.want {
			t.Errorf("%s: acted %d times, want %d", name, receiver.acts, c.want)
		}
	}
	receiver := &script{wait: func(p *Port[word]) bool { return p.Await(10, 50, proto.Never) != proto.Never }}
	sender := &script{at: []proto.Time{0}, do: func(p *Port[word], at proto.Time) { p.Send(at, 0, 60, word{class: Patient}) }}
	play(t, m, 1, receiver, sender)
	if receiver.acts != 2 {
		t.Errorf("so many bytes: acted %d times, want 2", receiver.acts)
	}
	receiver = &script{wait: func(p *Port[word]) bool {
		if p.Next() < 1000 {
			receiver.took = append(receiver.took, "woken")
		}
		p.Await(10, 5000, 700)
		return false
	}}
	sender.at = []proto.Time{0}
	play(t, m, 1, receiver, sender)
	if receiver.acts != 2 {
		t.Errorf("so long: acted %d times, want 2", receiver.acts)
	}
}

// What nodes send ahead of time, in any order, wakes a node when all is there that it awaits. What
// comes then doesn't put it off, nor does a frame more.
func TestAwaitAhead(t *testing.T) {
	receiver := &script{wait: func(p *Port[word]) bool { return p.Await(3, 1<<40, proto.Never) != proto.Never }}
	nodes := []*script{receiver}
	for _, at := range []proto.Time{5000, 1000, 3000, 9000} {
		nodes = append(nodes, &script{at: []proto.Time{0}, do: func(p *Port[word], _ proto.Time) {
			p.Send(at, 0, 1, word{class: Patient})
		}})
	}
	play(t, Model{Latency: 100}, 1, nodes...)
	expect(t, receiver, "1100 ", "3100 ", "5100 ")
	if receiver.acts != 2 {
		t.Errorf("acted %d times, want 2", receiver.acts)
	}
}

// A token goes round among many nodes, far beyond the wheel and over all workers.
func TestAgenda(t *testing.T) {
	const n = 300
	for _, pause := range []proto.Time{0, 1000, 10_000_000} {
		var first string
		for _, workers := range []int{1, 3} {
			var nodes []*script
			passed := 0
			for i := range n {
				nodes = append(nodes, &script{})
				nodes[i].wait = func(p *Port[word]) bool {
					if p.Next() != proto.Never && passed < 1000 {
						passed++
						f := p.Take()
						nodes[i].took = append(nodes[i].took, fmt.Sprint(f.At))
						p.Send(f.At+pause, proto.Proc((i+7)%n), 1, word{})
					}
					p.Await(1, 0, proto.Never)
					return false
				}
			}
			nodes[0].at, nodes[0].do = []proto.Time{50_000_000}, func(p *Port[word], at proto.Time) { p.Send(at, 7, 1, word{}) }
			play(t, Model{Latency: 100}, workers, nodes...)
			all := ""
			for _, node := range nodes {
				all += fmt.Sprintln(node.took)
			}
			if passed != 1000 || first != "" && all != first {
				t.Errorf("%d workers, pause %d: passed %d times, or at other times", workers, pause, passed)
			}
			first = all
		}
	}
}

func TestStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if err := New(Model{Latency: 1}, []Node[word]{&script{}}, 1).Run(ctx, nil); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func TestModelErrors(t *testing.T) {
	for want, m := range map[string]Model{
		"latency": {}, "overhead": {Latency: 1, Overhead: -1}, "gap": {Latency: 1, Gap: 2e9}, "per_byte": {Latency: 1, PerByte: -1},
	} {
		var wrong *field.Error
		if err := m.Validate(); !errors.As(err, &wrong) || wrong.Field != want {
			t.Errorf("%+v: %v, want one about %s", m, err, want)
		}
	}
}
