package groupnode

import (
	"testing"
	"time"

	"banyan/internal/proto"
)

// Members of one host, whenever they started, send heartbeats at the same eight moments of a
// period, none early and none by more than an eighth late.
func TestTogether(t *testing.T) {
	const period = 200 * time.Millisecond
	moments := map[int64]bool{}
	for i := range int64(1000) {
		m := &Member{cfg: Config{Period: period}, epoch: 1_795_000_000_000_000_000 + i*7_654_321}
		due := proto.Time(i * 1_234_567)
		at := m.together(due)
		if late := at - due; late < 0 || late >= proto.Time(period/8) {
			t.Fatalf("due at %d, sent at %d", due, at)
		}
		moments[(m.epoch+int64(at))%int64(period)] = true
	}
	if len(moments) != 8 {
		t.Errorf("%d moments a period", len(moments))
	}
}
