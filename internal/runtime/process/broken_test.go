package process

import (
	"slices"
	"testing"

	"banyan/internal/proto"
)

func TestBrokenConnectionsExpire(t *testing.T) {
	b := brokenConnections{{1, 10}, {2, 20}, {3, 10}, {4, 10}}
	if d := b.deadline(); d != 10 {
		t.Errorf("the deadline is %v", d)
	}
	b.forget(4)
	var suspected []proto.Proc
	b.expire(10, func(q proto.Proc) bool { return q != 3 }, func(q proto.Proc) { suspected = append(suspected, q) })
	if !slices.Equal(suspected, []proto.Proc{1}) || !slices.Equal(b, brokenConnections{{2, 20}}) {
		t.Errorf("suspected %v, left %v", suspected, b)
	}
	if b.forget(2); len(b) > 0 || b.deadline() != proto.Never {
		t.Errorf("left %v", b)
	}
}
