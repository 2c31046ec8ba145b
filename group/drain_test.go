package group_test

import (
	"errors"
	"testing"
	"time"

	"banyan/group"
)

// A member drains: it asks to leave in the middle of a step that it does under a lease. The
// others keep it in the view, so nobody takes its work over, until the step is done; then it has
// left.
func TestDrain(t *testing.T) {
	t.Parallel()
	anna := join(t, config("anna"))
	bert := join(t, config("bert", anna.Self().Address))
	for anna.Latest().Number != bert.Latest().Number {
		time.Sleep(time.Millisecond)
	}
	step := lease(t, anna)
	left := make(chan error, 1)
	go func() { left <- anna.Leave(t.Context()) }()
	select {
	case <-step.Wanted():
	case err := <-left:
		t.Fatalf("it has left in the middle of a step: %v", err)
	case <-time.After(10 * time.Second):
		t.Fatal("nothing waits for the step")
	}
	time.Sleep(4 * period)
	if v := bert.Latest(); step.Valid() && v.Number != step.View.Number {
		t.Errorf("view %d of %v during the step", v.Number, v.Members)
	}
	step.Release()
	if err := <-left; err != nil || !errors.Is(anna.Err(), group.ErrLeft) {
		t.Fatal(err, anna.Err())
	}
	for v := range bert.Views() {
		if v.Number <= step.View.Number {
			continue
		}
		if len(v.Left) != 1 || v.Left[0].Name != "anna" || len(v.Died) > 0 {
			t.Errorf("%+v", v)
		}
		break
	}
}
