package fleet

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/remote"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/placement"
	"banyan/internal/layout"
	"banyan/internal/proto"
)

// standIn is an agent that says of its host what a test wants.
type standIn struct{ host agent.Host }

func (s standIn) Host() agent.Host                            { return s.host }
func (s standIn) Start([]agent.Spec) ([]agent.Process, error) { return nil, nil }
func (s standIn) Lost() <-chan struct{}                       { return nil }
func (s standIn) Close() error                                { return nil }

// Agents that come by themselves, in any order, are placed by what they say of their hosts. Those
// that come later are hosts for replacements.
func TestJoin(t *testing.T) {
	key := secure.NewKey()
	address := make(chan string, 1)
	c := Config{Hosts: Awaited(3), Here: -1, Spares: 1, Join: &Join{"127.0.0.1:0", key}, Job: placement.Job{Layout: layout.Uniform(2, 2)},
		Note: func(text string) {
			if _, at, ok := strings.Cut(text, "waits at "); ok {
				at, _, _ = strings.Cut(at, " ")
				address <- at
			}
		}}
	var at string
	join := func(number int, name, zone string) {
		h := agent.Host{Name: name, Boot: fmt.Sprint(number, name), Zone: zone, Slots: 2}
		go remote.Serve(t.Context(), remote.Config{Addresses: []string{at}, Number: number, Key: key, Agent: standIn{h}})
	}
	go func() {
		at = <-address
		join(2, "h2", "west")
		join(1, "h", "west")
		time.Sleep(50 * time.Millisecond)
		join(0, "h", "east")
	}()
	f, err := Start(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got := fmt.Sprint(f.Names(), f.Places); got != "[h h#2 h2] [0 0 1 1]" {
		t.Error(got)
	}
	if got := fmt.Sprintf("%q", f.Racks()); got != `["east" "west" "west"]` {
		t.Error(got)
	}
	join(7, "h", "north")
	a := <-f.Arrivals()
	if a.Name != "h#3" || a.Agent.Host().Zone != "north" {
		t.Error(a.Name, a.Agent.Host())
	}
	// Host 1 is lost: the spare host shares no zone with host 0, nor does the new one. The launcher
	// knows of the latter only in the second question.
	on := []int{0, 0, -1, -1}
	for _, living := range [][]bool{{true, false, true}, {true, false, false, true}} {
		home, ok := f.Rehome(proto.Proc(2), on, living)
		if want := len(living) - 1; !ok || home != want {
			t.Errorf("%d, %v, not %d", home, ok, want)
		}
	}
}
