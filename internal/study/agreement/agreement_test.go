package agreement

import (
	"errors"
	"testing"

	"banyan/internal/proto"
	"banyan/internal/proto/broadcast"
	"banyan/internal/study/driver/logp"
	"banyan/internal/study/field"
	"banyan/internal/topology"
)

// TestUndisturbed: an agreement costs what a reduction and a broadcast cost along the same tree,
// which another simulator says.
func TestUndisturbed(t *testing.T) {
	for _, procs := range []int{2, 3, 8, 100, 256} {
		for _, tree := range []logp.TreeKind{logp.Binomial, logp.KAry} {
			c := Case{Procs: procs, Latency: 2, Overhead: 1, Tree: string(tree)}
			if tree == logp.KAry {
				c.K = 2
			}
			o, err := Simulate(&c)
			if err != nil {
				t.Fatal(err)
			}
			plain := logp.Case{Procs: procs, Latency: 2, Overhead: 1, Tree: tree, K: c.K, Correction: broadcast.NoCorrection}
			var s logp.Simulator
			up, err := s.Reduce(&logp.Reduction{Case: plain}, nil)
			if err != nil {
				t.Fatal(err)
			}
			down, err := s.Run(&plain, nil)
			if err != nil {
				t.Fatal(err)
			}
			want := up.Latency + down.Coloring
			if procs == 2 { // both send at once
				want = up.Latency
			}
			if o.Latency != want || o.Messages != 2*(procs-1) || o.Missing != 0 || o.Live != procs {
				t.Errorf("%d processes, %s: %+v, want latency %d", procs, tree, o, want)
			}
		}
	}
}

// TestDeaths: whenever the root or another member dies, all live ones return, one decision's worth
// of steps after they hear of it at the latest.
func TestDeaths(t *testing.T) {
	const procs, notice = 32, 40
	whole, err := Simulate(&Case{Procs: procs, Latency: 2, Overhead: 1, Tree: "binomial"})
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range []int{0, 1, 16, 31} {
		for at := proto.Time(-1); at <= whole.Quiescence; at++ {
			c := Case{Procs: procs, Latency: 2, Overhead: 1, Tree: "binomial", Deaths: []Death{{member, at}}, Notice: notice, Close: true}
			o, err := Simulate(&c)
			if err != nil {
				t.Fatal(err)
			}
			if o.Latency == proto.Never || o.Live != procs-1 || o.Missing > 1 {
				t.Errorf("%d dies at %d: %+v", member, at, o)
			}
			if at >= 0 && o.Latency > at+notice+3*whole.Latency {
				t.Errorf("%d dies at %d: it takes until %d", member, at, o.Latency)
			}
		}
	}
}

func TestStrict(t *testing.T) {
	c := Case{Procs: 16, Latency: 2, Overhead: 1, Tree: "binomial"}
	early, err := Simulate(&c)
	if err != nil {
		t.Fatal(err)
	}
	c.Strict = true
	strict, err := Simulate(&c)
	if err != nil || strict.Messages != 2*early.Messages || strict.First < early.Latency {
		t.Errorf("early return: %+v, strict: %+v, %v", early, strict, err)
	}
}

func TestValidate(t *testing.T) {
	good := Case{Procs: 4, Latency: 2, Overhead: 1, Tree: "star"}
	if err := good.Validate(); err != nil {
		t.Fatal(err)
	}
	for want, spoil := range map[string]func(*Case){
		"procs":    func(c *Case) { c.Procs = 0 },
		"latency":  func(c *Case) { c.Latency = -1 },
		"overhead": func(c *Case) { c.Overhead = 0 },
		"notice":   func(c *Case) { c.Notice = -1 },
		"k":        func(c *Case) { c.K = 3 },
		"tree":     func(c *Case) { c.Tree = "bush" },
		"kill":     func(c *Case) { c.Deaths = []Death{{Member: 4}} },
	} {
		c := good
		c.Numbering = topology.Interleaved
		spoil(&c)
		var wrong *field.Error
		if _, err := Simulate(&c); !errors.As(err, &wrong) || wrong.Field != want {
			t.Errorf("%v, want one about %s", err, want)
		}
	}
}
