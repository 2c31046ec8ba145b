package membership

import (
	"fmt"
	"time"

	"banyan/bench/processes"
	"banyan/internal/proto"
	"banyan/internal/proto/membership"
	"banyan/internal/runtime/wire/views"
	"banyan/internal/study/planning/risk"
	"banyan/internal/study/planning/viewtime"
)

// Machine is what the models know of a machine.
type Machine struct {
	Latency risk.Seconds // L: half a round trip of a proposal between two members
	Compute risk.Seconds // Ocp: for a member to compute its new view and pass it on
	// Contended is L while others talk too. MeasureMachine doesn't measure it.
	Contended *viewtime.Contended
}

// computations is how many are timed; their median is used.
const computations = 1001

// proposal returns what goes down the tree, as it is on the wire, when a member of a group dies
// and so many are left; and the member that gets it first.
func proposal(left, arity int) (message []byte, to membership.Member, first *membership.View, err error) {
	first = membership.FirstView(left + 1)
	dead := first.Members[left]
	coordinator := membership.New(membership.Config{Self: first.Members[0], Arity: arity}, first)
	var out membership.Actions
	coordinator.Departed(0, dead, membership.Died, &out)
	for _, a := range out {
		if a.Kind == membership.Send && a.Message.Kind == membership.Propose {
			return views.AppendSteps(nil, a.Message), a.To, first, nil
		}
	}
	return nil, to, nil, fmt.Errorf("of %d members nobody is told of a death", left)
}

// computing measures Ocp: how long a member with children takes from the bytes of a proposal
// until the bytes for its children are ready. In that time it checks the new view, finds its
// position in it and encodes it. At least two members are left.
func computing(left, arity int) (risk.Seconds, error) {
	message, self, first, err := proposal(left, arity)
	if err != nil {
		return 0, err
	}
	known := func(number uint64) *membership.View {
		if number == first.Number {
			return first
		}
		return nil
	}
	var out membership.Actions
	var buffer []byte
	var samples []float64
	for range computations {
		m := membership.New(membership.Config{Self: self, Arity: arity}, first)
		began := time.Now()
		x, err := views.DecodeSteps(message, known)
		if err != nil {
			return 0, err
		}
		m.Receive(proto.Time(0), x, &out)
		for _, a := range out {
			if a.Kind == membership.Send {
				buffer = views.AppendSteps(buffer[:0], a.Message)
			}
		}
		samples = append(samples, time.Since(began).Seconds())
		if len(out) == 0 {
			return 0, fmt.Errorf("a proposal to %v made it do nothing", self)
		}
		clear(out)
		out = out[:0]
	}
	return risk.Seconds(Median(samples)), nil
}

// paperMembers is how many the paper's cluster had.
const paperMembers = 47

// MeasureMachine measures L between two processes over the loopback, and Ocp, with the proposal
// that tells of a death in a group of 47. Again is how to start this program so that it calls
// Perform.
func MeasureMachine(again []string) (m Machine, err error) {
	const left, arity = paperMembers - 1, 2
	if m.Compute, err = computing(left, arity); err != nil {
		return m, err
	}
	message, _, _, err := proposal(left, arity)
	if err != nil {
		return m, err
	}
	g, err := processes.NewGroup(again)
	if err != nil {
		return m, err
	}
	defer g.Close()
	half, err := processes.PingPong(len(message), func(address string) error {
		_, err := g.Start(processes.Process{Name: "echo", Env: []string{task{Echo: address, Size: len(message)}.env(), oneProcessor}, MayEnd: true})
		return err
	})
	if err != nil {
		return m, g.Err(err.Error())
	}
	m.Latency = risk.Seconds(half.Seconds())
	return m, nil
}
