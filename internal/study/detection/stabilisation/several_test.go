package stabilisation

import (
	"context"
	"testing"

	"banyan/internal/proto"
)

// several are settings of f failures at once.
func several(nodes, f int) Settings {
	s := lowNoise(nodes)
	s.Law, s.Failures, s.Within = Forced, f, 1
	return s
}

// TestNeighboursAtOnce: f neighbours that fail together are found one after the other, the first
// within δ, each other 2δ later, by both engines.
func TestNeighboursAtOnce(t *testing.T) {
	for f := 1; f <= 5; f++ {
		s := several(64, f)
		s.Neighbours = true
		for seed := range uint64(20) {
			var all [2]proto.Time
			for i, kind := range []EngineKind{Abstract, Machine} {
				o, err := kind.New(&s).Run(context.Background(), NewScenario(&s, seed))
				if err != nil || !o.Stable || o.Broadcasts != f {
					t.Fatalf("f = %d, seed %d: %+v, %v", f, seed, o, err)
				}
				all[i] = o.All
			}
			high := proto.Time(2*f-1)*s.Timeout + proto.Time(s.Bound(f)) - proto.Time(f*(f+1))*s.Timeout
			low := high - s.Period - 200*s.Tau*proto.Time(f)
			if max(all[0], all[1]) > high || min(all[0], all[1]) < low {
				t.Errorf("f = %d, seed %d: %v, want %d to %d", f, seed, all, low, high)
			}
		}
	}
}

// TestTogether: nodes that started together are known to be dead δ after they die, to the messages.
func TestTogether(t *testing.T) {
	s := several(200, 1)
	s.Together = true
	for seed := range uint64(20) {
		o, err := NewMachines(&s).Run(context.Background(), NewScenario(&s, seed))
		if off := o.All - s.Timeout; err != nil || off < -8*s.Tau || off > 100*s.Tau {
			t.Errorf("seed %d: %d off δ, %v", seed, off, err)
		}
	}
}

// TestTrigger: a failure that its observer knows at once is told to all within the time of a
// broadcast; several at a time take longer, but not one after the other.
func TestTrigger(t *testing.T) {
	var each [9]proto.Time
	for _, f := range []int{1, 8} {
		s := several(1024, f)
		s.Trigger, s.Fixed = true, true
		for seed := range uint64(5) {
			c := NewScenario(&s, seed)
			o, err := NewMachines(&s).Run(context.Background(), c)
			if err != nil || !o.Stable || o.Broadcasts != f || float64(o.All) > float64(f)*8*10*float64(s.Tau) {
				t.Errorf("f = %d, seed %d: %+v, %v", f, seed, o, err)
			}
			each[f] += o.Each
			for i := range f {
				a, _ := c.Failure(i)
				for j := range i {
					if b, _ := c.Failure(j); (a.Node-b.Node+1024)%1024 == 1 || (b.Node-a.Node+1024)%1024 == 1 {
						t.Errorf("seed %d: neighbours %v and %v", seed, a, b)
					}
				}
			}
		}
	}
	if each[8] < 2*each[1] || each[8] > 8*each[1] {
		t.Errorf("one broadcast takes %d, one of eight %d", each[1], each[8])
	}
	s := several(1024, 1)
	s.Trigger = true
	if _, err := NewAbstraction(&s).Run(context.Background(), NewScenario(&s, 1)); err == nil {
		t.Error("the abstraction plays a trigger")
	}
}

func TestSeveralValidate(t *testing.T) {
	for name, spoil := range map[string]func(*Settings){
		"neighbours by chance":   func(s *Settings) { s.Law, s.MTBF, s.Neighbours = Exponential, second, true },
		"triggered neighbours":   func(s *Settings) { s.Trigger, s.Neighbours = true, true },
		"too many are triggered": func(s *Settings) { s.Trigger, s.Failures = true, 30 },
	} {
		s := several(64, 2)
		if err := s.Validate(); err != nil {
			t.Fatal(err)
		}
		if spoil(&s); s.Validate() == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
