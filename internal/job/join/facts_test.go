package join

import (
	"fmt"
	"strings"
	"testing"

	"banyan/internal/job/control"
	"banyan/internal/runtime/transport/mesh"
)

func told(f *facts) string {
	var lines []string
	for _, m := range f.tell() {
		lines = append(lines, fmt.Sprintf("%s %d.%d", m.Type, m.Proc, m.Incarnation))
	}
	return strings.Join(lines, "; ")
}

func TestFacts(t *testing.T) {
	f := newFacts(4)
	if s := told(f); s != "" {
		t.Errorf("at first %s", s)
	}
	card := mesh.Card{Host: "h", Addr: "127.0.0.1:1", Pid: 7, Start: 8, Incarnation: 2}
	f.died(1, 0)
	f.exclude(1, 0)
	f.admit(control.Message{Proc: 1, Incarnation: 2, Card: card.String()})
	f.admit(control.Message{Proc: 1, Incarnation: 1}) // old news
	f.canDonate()
	f.keep(control.Message{Type: control.Unhealable})
	if s := told(f); s != "knows 1.2; eviction notice 1.0; excluded 1.0; healable 0.0; unhealable 0.0" {
		t.Error(s)
	}
	if s := told(f); s != "knows 1.2; eviction notice 1.0; excluded 1.0; healable 0.0" {
		t.Errorf("then %s", s)
	}
	if c, is := f.address(1); !is || c != card {
		t.Errorf("the replacement is at %v", c)
	}
	if _, is := f.address(0); is {
		t.Error("there is a replacement of process 0")
	}
}

// When the spare leader is lost, a replacement that isn't known to all is held for dead.
func TestUnfinishedReplacements(t *testing.T) {
	f := newFacts(4)
	if _, _, is := f.unfinished(); is {
		t.Error("there was none")
	}
	f.admit(control.Message{Proc: 3, Incarnation: 1})
	if p, incarnation, is := f.unfinished(); !is || p != 3 || incarnation != 1 {
		t.Errorf("%d.%d, %v", p, incarnation, is)
	}
	f.admit(control.Message{Proc: 3, Incarnation: 2})
	f.healed(3, 1) // another one
	f.healed(2, 2)
	if _, _, is := f.unfinished(); !is {
		t.Error("it isn't known to all")
	}
	f.admit(control.Message{Proc: 3, Incarnation: 3})
	f.healed(3, 3)
	if _, _, is := f.unfinished(); is {
		t.Error("all know it")
	}
	f.admit(control.Message{Proc: 3, Incarnation: 4})
	f.died(3, 4)
	if _, _, is := f.unfinished(); is {
		t.Error("it is dead already")
	}
}
