package membership

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"banyan/internal/study/planning/risk"
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
		{Setting{47, 2, Fault{Node, 0}}, 0, 1234.5e-6, 2000e-6, 135, 0, 500e-6, 1200e-6},
		{Setting{12, 4, Fault{Several, 3}}, 7, 0.1e-6, 0.2, 24, 0, 0, 0},
	}
	var out bytes.Buffer
	if err := WriteCSV(&out, rows); err != nil {
		t.Fatal(err)
	}
	want := "n,arity,fault,run,stabilise_us,commit_us,messages,base_model_us,contention_model_us\n" +
		"47,2,node,0,1234.5,2000.0,135,500.0,1200.0\n12,4,several:3,7,0.1,200000.0,24,0.0,0.0\n"
	if out.String() != want {
		t.Errorf("written:\n%s", out.String())
	}
	got, err := ReadCSV(strings.NewReader(want))
	if err != nil || len(got) != 2 || got[0].Setting != rows[0].Setting || got[1].Fault.Count != 3 || got[1].Run != 7 || got[0].Messages != 135 ||
		math.Abs(float64(got[0].Stabilise-1234.5e-6)) > 1e-12 || math.Abs(float64(got[0].Contention-1200e-6)) > 1e-12 {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{
		"", "n,stabilise_us\n3,4\n",
		strings.Replace(want, "47,", "many,", 1), strings.Replace(want, "47,", "0,", 1), strings.Replace(want, "node", "fire", 1),
		strings.Replace(want, "1234.5", "-1", 1), strings.Replace(want, "1234.5", "NaN", 1), strings.Replace(want, "1234.5", "1e99", 1), want + "3,2\n",
	} {
		if rows, err := ReadCSV(strings.NewReader(text)); err == nil {
			t.Errorf("%q is %v", text, rows)
		}
	}
}

// The fit recovers the contention in the data, from single members' deaths alone.
func TestFit(t *testing.T) {
	m := Machine{Latency: 40e-6, Compute: 3e-6}
	model := m.Model()
	model.Contention = 0.2
	var rows []*Row
	for n := 3; n < 48; n++ {
		for run := range 3 {
			s := Setting{N: n, Arity: 2 + 2*(n%2)}
			r := &Row{Setting: s, Run: run, Stabilise: model.Stabilise(s.Agree(), s.Arity)}
			if run == 0 {
				r.Stabilise *= 10 // one of three is odd
			}
			rows = append(rows, r)
		}
	}
	rows = append(rows, &Row{Setting: Setting{40, 2, Fault{Root, 0}}, Stabilise: 1})
	fit, err := m.Fit(rows)
	if err != nil || math.Abs(fit.Contention-0.2) > 1e-9 || fit.Count != 45 {
		t.Errorf("%+v, %v", fit, err)
	}
	for _, r := range rows {
		if r.Base != m.model(r) || math.Abs(float64(r.Contention-model.Stabilise(r.Agree(), r.Arity))) > 1e-12 {
			t.Fatalf("%+v", r)
		}
	}
	for i := range rows {
		rows[i].Stabilise = 1e-9
	}
	if _, err := m.Fit(rows); err == nil || rows[3].Contention != rows[3].Base {
		t.Errorf("faster than the network: %v", err)
	}
}

func (m *Machine) model(r *Row) risk.Seconds {
	model := m.Model()
	return model.Base(r.Agree(), r.Arity)
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
