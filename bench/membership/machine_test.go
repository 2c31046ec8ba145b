package membership

import (
	"testing"

	"banyan/internal/proto/membership"
	"banyan/internal/runtime/wire/views"
)

// The timed proposal is a valid one: the member accepts the view of those that are left.
func TestProposal(t *testing.T) {
	message, to, first, err := proposal(46, 2)
	if err != nil {
		t.Fatal(err)
	}
	x, err := views.DecodeSteps(message, func(number uint64) *membership.View {
		return map[uint64]*membership.View{first.Number: first}[number]
	})
	if err != nil || x.Kind != membership.Propose || len(x.View.Members) != 46 || len(first.Members) != 47 || to != first.Members[1] {
		t.Errorf("%v: %+v to %v", err, x, to)
	}
	if _, _, _, err := proposal(1, 2); err == nil {
		t.Error("a proposal to nobody")
	}
}

// More members take longer: the next view is made and checked in time that is linear in them.
func TestComputing(t *testing.T) {
	few, err := computing(4, 2)
	if err != nil {
		t.Fatal(err)
	}
	many, err := computing(1000, 2)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("Ocp: %v with 4 members, %v with 1000", few, many)
	if few <= 0 || many <= few || many > 0.1 {
		t.Errorf("%v with 4 members, %v with 1000", few, many)
	}
}
