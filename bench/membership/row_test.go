package membership

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"banyan/internal/study/planning/viewtime"
)

func TestFaults(t *testing.T) {
	for text, want := range map[string]Fault{"node": {Node, 0}, "root": {Root, 0}, "several": {Several, 2}, "several:5": {Several, 5}, "join": {Join, 0}} {
		f, err := ParseFault(text)
		if err != nil || f != want {
			t.Errorf("%s: %v, %v", text, f, err)
		}
		if again, err := ParseFault(f.String()); err != nil || again != f {
			t.Errorf("%s: written as %v", text, f)
		}
	}
	for _, text := range []string{"", "fire", "node:2", "several:", "several:0", "several:x", "join:1"} {
		if f, err := ParseFault(text); err == nil {
			t.Errorf("%q is %v", text, f)
		}
	}
}

func TestMembers(t *testing.T) {
	if got, err := ParseMembers("3..5,64, 128"); err != nil || !slices.Equal(got, []int{3, 4, 5, 64, 128}) {
		t.Errorf("%v, %v", got, err)
	}
	for _, text := range []string{"", "x", "3..", "..5", "5..3", "3...5", "1..2000", "0", "-3", "3,,4"} {
		if got, err := ParseMembers(text); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
}

func TestCheck(t *testing.T) {
	for _, x := range []struct {
		s    Setting
		says string
	}{
		{Setting{N: 1, Arity: 2}, "-n 1: want 2 to 1024"},
		{Setting{N: 1025, Arity: 2}, "-n 1025"},
		{Setting{N: 3, Arity: 2, Fault: Fault{Several, 3}}, "--fault several:3: of 3 members at least one must live"},
		{Setting{N: 3, Arity: 3}, "--arity: 3: want a power of two"},
		{Setting{N: 3, Arity: 0}, "--arity: 0"},
	} {
		if err := x.s.Check(); err == nil || !strings.Contains(err.Error(), x.says) {
			t.Errorf("%v: %v", &x.s, err)
		}
	}
	s := Setting{N: 2, Arity: 2}
	if err := s.Check(); err != nil || s.Agree() != 1 {
		t.Errorf("%d agree, %v", s.Agree(), err)
	}
	if s.Fault.Kind = Join; s.Agree() != 2 {
		t.Errorf("with one who joins %d agree", s.Agree())
	}
}

// Rows are read as they were written, and other lines are refused.
func TestCSV(t *testing.T) {
	rows := []Row{
		{Setting: Setting{47, 2, Fault{Node, 0}}, Stabilise: 1234.5e-6, Commit: 2000e-6, Messages: 135, Busy: 0.75, Base: 500e-6, Contention: 1200e-6},
		{Setting: Setting{12, 4, Fault{Several, 3}}, Run: 7, Stabilise: 0.1e-6, Commit: 0.2, Messages: 24},
	}
	var out bytes.Buffer
	if err := WriteCSV(&out, rows); err != nil {
		t.Fatal(err)
	}
	want := "n,arity,fault,run,stabilise_us,commit_us,messages,busy,base_model_us,contention_model_us\n" +
		"47,2,node,0,1234.5,2000.0,135,0.750,500.0,1200.0\n12,4,several:3,7,0.1,200000.0,24,0.000,0.0,0.0\n"
	if out.String() != want {
		t.Errorf("written:\n%s", out.String())
	}
	got, err := ReadCSV(strings.NewReader(want))
	if err != nil || len(got) != 2 || got[0].Setting != rows[0].Setting || got[1].Fault.Count != 3 || got[1].Run != 7 || got[0].Messages != 135 || got[0].Busy != 0.75 ||
		math.Abs(float64(got[0].Stabilise-1234.5e-6)) > 1e-12 || math.Abs(float64(got[0].Contention-1200e-6)) > 1e-12 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{
		"", "n,stabilise_us\n3,4\n",
		strings.Replace(want, "47,", "many,", 1), strings.Replace(want, "47,", "0,", 1), strings.Replace(want, "node", "fire", 1),
		strings.Replace(want, "1234.5", "-1", 1), strings.Replace(want, "1234.5", "NaN", 1), strings.Replace(want, "1234.5", "1e99", 1), strings.Replace(want, "0.750", "much", 1), strings.Replace(want, "0.750", "-1", 1), want + "3,2\n",
	} {
		if rows, err := ReadCSV(strings.NewReader(text)); err == nil {
			t.Errorf("%q is %v", text, rows)
		}
	}
}

// The models get into the rows, and are judged by the medians of single members' deaths alone.
func TestModels(t *testing.T) {
	contended, err := viewtime.NewContended([]viewtime.Latency{{Children: 2, Nodes: 2, Time: 40e-6}, {Children: 2, Nodes: 42, Time: 80e-6}, {Children: 4, Nodes: 5, Time: 90e-6}})
	if err != nil {
		t.Fatal(err)
	}
	m := Machine{Latency: 30e-6, Compute: 3e-6, Contended: contended}
	model := m.contention()
	var rows []Row
	for n := 3; n < 48; n++ {
		for run := range 3 {
			s := Setting{N: n, Arity: 2 + 2*(n%2)}
			r := Row{Setting: s, Run: run, Stabilise: model.Stabilise(s.Agree(), s.Arity)}
			if run == 0 {
				r.Stabilise *= 10 // one of three is odd
			}
			rows = append(rows, r)
		}
	}
	rows = append(rows, Row{Setting: Setting{40, 2, Fault{Root, 0}}, Stabilise: 1}, Row{Setting: Setting{2, 2, Fault{}}, Stabilise: 1})
	m.Describe(rows)
	// 22 nodes are left, 5 levels: L is 60 µs, and 30 in the base model.
	if r := rows[3*20]; r.N != 23 || r.Arity != 4 || math.Abs(float64(r.Contention)-(2*90e-6*3+4*3e-6)) > 1e-12 {
		t.Errorf("%+v", r)
	}
	if r := rows[3*19]; r.N != 22 || math.Abs(float64(r.Contention)-(2*59e-6*4+5*3e-6)) > 1e-12 || math.Abs(float64(r.Base)-(2*30e-6*4+5*3e-6)) > 1e-12 {
		t.Errorf("%+v", r)
	}
	all := func(*Setting) bool { return true }
	got, any := m.match(medians(rows, all))
	if !any || got.Count != 45 || got.Contention > 1e-12 || got.Base < 100e-6 {
		t.Errorf("%+v, %v", got, any)
	}
	if _, any := m.match(medians(rows, func(s *Setting) bool { return s.N > 100 })); any {
		t.Error("a match of nothing")
	}
}

func TestMedian(t *testing.T) {
	for _, x := range []struct {
		values []float64
		want   float64
	}{{[]float64{3}, 3}, {[]float64{4, 1}, 2.5}, {[]float64{9, 1, 2}, 2}, {[]float64{9, 1, 2, 4}, 3}} {
		if got := Median(x.values); got != x.want {
			t.Errorf("%v: %v", x.values, got)
		}
	}
}
