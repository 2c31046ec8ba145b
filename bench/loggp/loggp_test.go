package loggp

import (
	"bytes"
	"math"
	"os"
	"testing"
	"time"

	"banyan/internal/study/replication"
)

// TestMain is also the program that the jobs run.
func TestMain(m *testing.M) {
	if len(os.Args) > 2 && os.Args[1] == "role" {
		if err := Perform(os.Stdout, os.Args[2:]); err != nil {
			os.Exit(2)
		}
		return
	}
	os.Exit(m.Run())
}

// made are the calls of a machine of known costs.
func made(latency, overhead, gap, perByte, perCopy, more float64) (c calls) {
	for _, size := range sizes {
		call := overhead + perCopy*float64(size)
		c.Send, c.Receive = append(c.Send, call), append(c.Receive, call+more)
		c.OneWay = append(c.OneWay, latency+2*call+more+perByte*float64(size))
	}
	c.Train = gap
	return c
}

// TestCosts: of a machine that is as LogGP has it the costs are found.
func TestCosts(t *testing.T) {
	r := round{
		spinning: made(900, 300, 350, .02, .1, 0), sleeping: made(900, 500, 350, .02, .1, 0),
		replicated: made(900, 550, 350, .02, .1, 0), each: made(900, 550, 350, .02, .1, 360),
	}
	noisy := r
	noisy.spinning = made(9000, 3000, 3500, .2, 1, 0)
	want := map[string]float64{"latency": 900, "overhead": 300, "gap": 350, "per_byte": .02, "per_copy": .1, "acknowledge": 180, "replication": 50}
	costs := summary([]round{r, noisy, r})
	if len(costs) != len(want) {
		t.Fatalf("%d costs", len(costs))
	}
	for _, c := range costs {
		if math.Abs(c.Median-want[c.Name]) > 1e-6*want[c.Name]+1e-9 {
			t.Errorf("%s is %v, want %v", c.Name, c.Median, want[c.Name])
		}
	}
	n := Network("made", costs)
	var file bytes.Buffer
	if _, err := n.WriteTo(&file); err != nil {
		t.Fatal(err)
	}
	if got, err := replication.ReadNetwork(&file); err != nil || got != n {
		t.Errorf("the simulator reads %+v (%v), want %+v", got, err, n)
	}
	backwards := round{spinning: made(-5, 300, 350, -1, .1, 0), sleeping: made(0, 500, 0, 0, 0, 0), replicated: made(0, 400, 0, 0, 0, 9), each: made(0, 400, 0, 0, 0, 0)}
	n = Network("differences below 0", summary([]round{backwards}))
	if err := n.Costs.Validate(); err != nil || n.Costs.Latency != 1 || n.Costs.Acknowledge != 0 || n.Costs.Replication != 0 {
		t.Errorf("%+v: %v", n, err)
	}
}

// TestJobs runs one job of each kind: the program with the simulated communication comes to its
// end, with replicas, too, and both have times. How far apart they are depends on the machine.
func TestJobs(t *testing.T) {
	b := Bench{Worker: []string{os.Args[0], "role"}, Rounds: 1, Limit: time.Minute}
	var c calls
	if err := b.run(t.Context(), &c, 2, 1, false, roleCalls, "true"); err != nil {
		t.Fatal(err)
	}
	if len(c.Send) != len(sizes) || len(c.Receive) != len(sizes) || !(c.Send[0] > 0 && c.Receive[0] > 0 && c.OneWay[0] > 0 && c.Train > 0) {
		t.Errorf("%+v", c)
	}
	n, _ := replication.NetworkNamed("infiniband")
	programs := []Program{
		{"stencil-cg", 2, 1, 64, 10, 20 * time.Microsecond}, {"halo2d", 3, 2, 100_000, 10, 0}, {"gather", 2, 2, 8, 10, 0},
	}
	rows, err := b.Compare(t.Context(), programs, n.Costs)
	if err != nil || len(rows) != len(programs) {
		t.Fatal(rows, err)
	}
	for _, r := range rows {
		if !(r.Real.Median > 0 && r.Simulated > 0) || r.Real.Median < float64(r.Compute.Microseconds()) || r.Simulated < float64(r.Compute.Microseconds()) {
			t.Errorf("%+v", r)
		}
	}
	for _, bad := range []Program{{"halo2d", 1, 1, 8, 10, 0}, {"ring", 2, 1, 8, 10, 0}, {"halo2d", 2, 0, 8, 10, 0}} {
		if bad.Validate(n.Costs) == nil {
			t.Errorf("%+v passes", bad)
		}
	}
	for _, args := range [][]string{nil, {"calls"}, {"play", "true", "x", "1s", "halo2d", "8"}, {"else", "true"}} {
		if Perform(&bytes.Buffer{}, args) == nil {
			t.Errorf("%v: want an error", args)
		}
	}
}
