package viewtime

import (
	"errors"
	"math"
	"testing"

	"banyan/internal/study/field"
	"banyan/internal/study/planning/risk"
)

const us = 1e-6

func bluegene() Model { return Model{Latency: 4.6 * us, Compute: 2 * us} }
func ethernet() Model { return Model{Latency: 118 * us, Compute: 2 * us} }

func near(a, b risk.Seconds) bool { return math.Abs(float64(a-b)) < 1e-9*math.Abs(float64(b)) }

func TestLevels(t *testing.T) {
	// Counted by hand; the others along parents.
	for _, x := range []struct{ nodes, arity, levels, widest int }{
		{1, 2, 1, 0}, {2, 2, 2, 1}, {3, 2, 2, 2}, {4, 2, 3, 2}, {47, 2, 6, 16}, {1023, 2, 10, 512}, {1024, 2, 11, 512},
		{5, 4, 2, 4}, {6, 4, 3, 4}, {21, 4, 3, 16}, {22, 4, 4, 16}, {47, 4, 4, 26}, {9, 8, 2, 8}, {10, 8, 3, 8},
	} {
		if levels, widest := Levels(x.nodes, x.arity), Widest(x.nodes, x.arity); levels != x.levels || widest != x.widest {
			t.Errorf("%d nodes, arity %d: %d levels, widest %d: want %d and %d", x.nodes, x.arity, levels, widest, x.levels, x.widest)
		}
	}
	for _, arity := range []int{2, 4, 8, 16} {
		for nodes := 1; nodes < 600; nodes++ {
			width := map[int]int{}
			for p := range nodes {
				depth := 0
				for q := p; q > 0; q = (q - 1) / arity {
					depth++
				}
				width[depth]++
			}
			widest := 0
			for depth, w := range width {
				if depth > 0 {
					widest = max(widest, w)
				}
			}
			if Levels(nodes, arity) != len(width) || Widest(nodes, arity) != widest {
				t.Fatalf("%d nodes, arity %d: %d levels, widest %d", nodes, arity, Levels(nodes, arity), Widest(nodes, arity))
			}
		}
	}
}

// TestPaper checks the numbers in the paper's text.
func TestPaper(t *testing.T) {
	b, e := bluegene(), ethernet()
	// Equations 1 and 2 by hand.
	if got := b.Base(1024, 2); !near(got, (2*4.6*10+2*11)*us) {
		t.Errorf("BlueGene/L, 1024 nodes: %v", got)
	}
	if got := e.Base(47, 2); !near(got, (2*118*5+2*6)*us) {
		t.Errorf("Ethernet, 47 nodes: %v", got)
	}
	// Section 7.2: with four children the steps are above 5 and above 21 nodes.
	for n := 2; n <= 47; n++ {
		step := e.Base(n, 4) > e.Base(n-1, 4)
		if want := n == 2 || n == 6 || n == 22; step != want {
			t.Errorf("a step at %d nodes: %v", n, step)
		}
	}
	// The abstract: hundreds of microseconds over MPI on BlueGene/L, with the distance model
	// on two midplanes, single-digit milliseconds over TCP.
	b.Topology = Topology{Size: [3]int{8, 8, 16}, Wrap: true}
	for _, arity := range []int{2, 4} {
		if got := b.Stabilise(1024, arity); got < 100*us || got >= 1000*us {
			t.Errorf("BlueGene/L, 1024 nodes, arity %d: %v", arity, got)
		}
		if got := e.Stabilise(47, arity); got < 0.5e-3 || got >= 10e-3 {
			t.Errorf("Ethernet, 47 nodes, arity %d: %v", arity, got)
		}
	}
	// The erratum: with the printed factor H-1 it would be milliseconds.
	printed := 2 * b.Latency * risk.Seconds(b.Topology.Hops(1024, 2)*(Levels(1024, 2)-1))
	if printed < 1e-3 {
		t.Errorf("as printed: %v", printed)
	}
	// Slightly smaller with four children than with two.
	if b.Stabilise(1024, 4) >= b.Stabilise(1024, 2) {
		t.Error("four children aren't better on the torus")
	}
}

func TestDistance(t *testing.T) {
	torus := Topology{Size: [3]int{8, 8, 16}, Wrap: true}
	mesh := Topology{Size: [3]int{8, 8, 16}}
	at := func(x, y, z int) int { return (x*8+y)*16 + z }
	for _, d := range []struct{ a, b, torus, mesh int }{
		{at(0, 0, 0), at(0, 0, 1), 1, 1},
		{at(0, 0, 0), at(0, 0, 15), 1, 15},
		{at(0, 0, 0), at(7, 7, 15), 3, 29},
		{at(1, 2, 3), at(5, 6, 11), 16, 16},
		{at(0, 7, 0), at(1, 0, 0), 2, 8},
	} {
		if got := torus.Distance(d.a, d.b); got != d.torus || torus.Distance(d.b, d.a) != got {
			t.Errorf("torus, %d to %d: %d hops, want %d", d.a, d.b, got, d.torus)
		}
		if got := mesh.Distance(d.a, d.b); got != d.mesh || mesh.Distance(d.b, d.a) != got {
			t.Errorf("mesh, %d to %d: %d hops, want %d", d.a, d.b, got, d.mesh)
		}
	}
	// Seven nodes in a row: 0→1, 0→2; 1→3, 1→4, 2→5, 2→6.
	if row := (Topology{Size: [3]int{1, 1, 7}}); row.Hops(7, 2) != 2+4 {
		t.Errorf("a row: %d hops", row.Hops(7, 2))
	}
	if ring := (Topology{Size: [3]int{1, 1, 7}, Wrap: true}); ring.Hops(7, 2) != 2+3 {
		t.Errorf("a ring: %d hops", ring.Hops(7, 2))
	}
}

func TestRefinements(t *testing.T) {
	for _, nodes := range []int{1, 2, 3, 47, 1000} {
		for _, arity := range []int{2, 4, 8} {
			m := ethernet()
			if m.Stabilise(nodes, arity) != m.Base(nodes, arity) {
				t.Errorf("%d nodes, arity %d: without refinements it is not the base model", nodes, arity)
			}
		}
	}
	m := ethernet()
	if got := m.Best(1000, []int{2, 4, 8, 512}); got != 512 {
		t.Errorf("best without fan-out: %d", got)
	}
	m.Overhead = 20 * us
	// By hand: 9 levels of 236 + 20, 5 of 236 + 60, 4 of 236 + 140 µs.
	if got := m.Best(1000, []int{512, 2, 8, 4}); got != 4 {
		t.Errorf("best with fan-out: %d", got)
	}
	if got, want := m.Stabilise(7, 2), m.Base(7, 2)+2*20*us; !near(got, want) {
		t.Errorf("fan-out of 7 nodes: %v, want %v", got, want)
	}
}

// TestFit: the fit recovers a known c, and reports how far the measurements are off.
func TestFit(t *testing.T) {
	m := ethernet()
	with := m
	with.Contention = 0.05
	var exact, off []Measurement
	for n := 3; n <= 47; n++ {
		p := Measurement{n, 2 + 2*(n%2), 0}
		p.Time = with.Stabilise(p.Nodes, p.Arity)
		exact = append(exact, p)
		p.Time += 30 * us * risk.Seconds(1-n%3) // -30, 0 and 30 µs
		off = append(off, p)
	}
	fit, err := m.FitContention(exact)
	if err != nil || math.Abs(fit.Contention-0.05) > 1e-9 || fit.Residual > 1e-9 || fit.Count != 45 || fit.Without < 100*us {
		t.Errorf("exact: %+v, %v", fit, err)
	}
	fit, err = m.FitContention(off)
	if err != nil || math.Abs(fit.Contention-0.05) > 0.005 || fit.Residual < 20*us || fit.Residual > 25*us {
		t.Errorf("30 µs off in two of three: %+v, %v", fit, err)
	}
	if _, err := m.FitContention(nil); err == nil {
		t.Error("no measurements")
	}
	if _, err := m.FitContention([]Measurement{{1, 2, us}}); err == nil {
		t.Error("a single node")
	}
	if _, err := m.FitContention([]Measurement{{47, 2, us}}); err == nil {
		t.Error("faster than light")
	}
}

func TestBadInput(t *testing.T) {
	for _, text := range []string{"", "ring", "torus", "torus:8x8", "torus:8x8x8x8", "torus:8x0x8", "mesh:axbxc", "mesh:4096x4096x2", "torus:99999999999999999999x1x1"} {
		if _, err := ParseTopology(text); err == nil {
			t.Errorf("topology %q", text)
		}
	}
	for _, text := range []string{"single", "torus:8x8x16", "mesh:1x2x3"} {
		if got, err := ParseTopology(text); err != nil || got.String() != text {
			t.Errorf("topology %q: %v, %v", text, got, err)
		}
	}
	m := bluegene()
	m.Topology = Topology{Size: [3]int{2, 2, 2}}
	for _, x := range []struct {
		nodes, arity int
		field        string
	}{{0, 2, "nodes"}, {-1, 2, "nodes"}, {MaxNodes + 1, 2, "nodes"}, {9, 2, "nodes"}, {4, 3, "arity"}, {4, 1, "arity"}, {4, 0, "arity"}, {4, -2, "arity"}, {8, 8, ""}} {
		err := m.ValidateTree(x.nodes, x.arity)
		var wrong *field.Error
		if errors.As(err, &wrong) != (x.field != "") || wrong != nil && wrong.Field != x.field {
			t.Errorf("%d nodes, arity %d: %v", x.nodes, x.arity, err)
		}
	}
	for _, bad := range []Model{{}, {Latency: -1}, {Latency: 1, Compute: -1}, {Latency: 1, Overhead: -1}, {Latency: risk.Seconds(math.Inf(1))}} {
		if bad.Validate() == nil {
			t.Errorf("%+v", bad)
		}
	}
}

// TestLongestWay: by hand, and never more than the sum of the levels' longest.
func TestLongestWay(t *testing.T) {
	// In a row 0→1, 0→2; 1→3, 1→4, 2→5, 2→6: the longest way is to 6.
	if row := (Topology{Size: [3]int{1, 1, 7}}); row.LongestWay(7, 2) != 2+4 {
		t.Errorf("a row: %d hops", row.LongestWay(7, 2))
	}
	// In a ring of seven 0→2 takes two, 2→5 three, 2→6 three, 1→4 three.
	if ring := (Topology{Size: [3]int{1, 1, 7}, Wrap: true}); ring.LongestWay(7, 2) != 2+3 {
		t.Errorf("a ring: %d hops", ring.LongestWay(7, 2))
	}
	torus := Topology{Size: [3]int{8, 8, 8}, Wrap: true}
	for _, arity := range []int{2, 4, 8} {
		for nodes := 1; nodes <= 512; nodes++ {
			way, sum, levels := torus.LongestWay(nodes, arity), torus.Hops(nodes, arity), Levels(nodes, arity)
			if single := (Topology{}).LongestWay(nodes, arity); way > sum || single != levels-1 {
				t.Fatalf("%d nodes, arity %d: %d hops of %d, over single hops %d of %d", nodes, arity, way, sum, single, levels-1)
			}
		}
	}
}
