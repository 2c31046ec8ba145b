package mpi

import (
	"testing"

	"banyan/internal/layout"
	"banyan/internal/proto"
	"banyan/internal/proto/membership"
)

// Where ranks differ in their number of replicas a view names each process as the layout does.
func TestViewOfAPartialLayout(t *testing.T) {
	l := layout.Partial([]int{1, 2, 3})
	v := &membership.View{Number: 7}
	for p := range proto.Proc(l.Procs()) {
		v.Members = append(v.Members, membership.Member{Proc: p, Incarnation: proto.Incarnation(p)})
	}
	want := []Member{{0, 0, 0}, {1, 0, 1}, {2, 0, 2}, {1, 1, 3}, {2, 1, 4}, {2, 2, 5}}
	got := newView(l, v)
	if got.Number != 7 || len(got.Members) != len(want) {
		t.Fatalf("%+v", got)
	}
	for i, m := range got.Members {
		if m != want[i] {
			t.Errorf("process %d is %+v, want %+v", i, m, want[i])
		}
	}
}
