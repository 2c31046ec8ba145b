package replication

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/study/report"
)

// invented are measurements of eight rounds. overhead says by how much a setting takes longer than
// jobs side by side, which each round disturbs by up to a hundredth.
func invented(overhead func(part Part, name string, bytes int, s Setting) float64) []Measurement {
	var all []Measurement
	add := func(m Measurement, base float64, of ...Setting) {
		for round := range 8 {
			for i, s := range of {
				noise := 1 + 0.01*float64((round*7+i*3)%5-2)/2
				m.Setting, m.Round = s, round
				m.Seconds = base * noise * (1 + overhead(m.Part, m.Name, m.Bytes, s))
				if m.CPU = 0; m.Part == Application {
					m.CPU = 4 * m.Seconds
				}
				all = append(all, m)
			}
		}
	}
	for _, size := range []int{1, 64, 512, 64 << 10, 1 << 20} {
		add(Measurement{Part: PingPong, Name: "C", Bytes: size, Ranks: 2, Replicas: 2}, 5e-6+float64(size)*1e-10, Alone, Beside, Parallel, Mirror, Each)
	}
	for _, name := range []string{"cg", "cg, any source", "bt.A.4", "./solver x"} {
		add(Measurement{Part: Application, Name: name, Ranks: 2, Replicas: 2}, 4, Beside, Parallel)
	}
	for _, s := range []Setting{Alone, Parallel, Mirror, Each} {
		m := Measurement{Part: Traffic, Name: "ping-pong", Bytes: 8, Ranks: 2, Replicas: 2, Setting: s}
		m.Messages = map[Setting]int{Alone: 1000, Parallel: 2000, Mirror: 4000, Each: 2000}[s]
		m.Acknowledgements = map[Setting]int{Parallel: 32, Each: 2000}[s]
		all = append(all, m)
	}
	for _, x := range []struct {
		s     Setting
		name  string
		count int
	}{{Alone, ByLane, 400}, {Alone, Behind, 3000}, {Parallel, Behind, 3500}, {Parallel, Ahead, 3600}, {Mirror, Behind, 4500}} {
		all = append(all, Measurement{Part: Instructions, Name: x.name, Bytes: 8, Ranks: 2, Replicas: 2, Setting: x.s, Instructions: x.count})
	}
	add(Measurement{Part: Failover, Name: "shm", Ranks: 2, Replicas: 2}, 2e-3, Parallel, Mirror)
	return all
}

// asPaper are overheads as the paper's.
func asPaper(part Part, _ string, bytes int, s Setting) float64 {
	switch {
	case s == Beside || s == Alone:
		return 0
	case part == Application:
		return 0.02
	case bytes < 100:
		return 0.42
	}
	return 0.05
}

func result(t *testing.T, p Parameters) *report.Report {
	t.Helper()
	r, err := Run(p)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// check checks that the claims whose text contains a name have this verdict.
func check(t *testing.T, r *report.Report, want report.Verdict, names ...string) {
	t.Helper()
	for _, name := range names {
		found := false
		for _, c := range r.Claims {
			if strings.Contains(c.What, name) {
				found = true
				if c.Verdict != want {
					t.Errorf("%s: %v, want %v; ours %s", c.What, c.Verdict, want, c.Ours)
				}
			}
		}
		if !found {
			t.Errorf("there is no claim %q", name)
		}
	}
}

// TestAsPaper: measurements like the paper's agree with it.
func TestAsPaper(t *testing.T) {
	r := result(t, Parameters{Measured: invented(asPaper), MeasuredBy: "invented"})
	check(t, r, report.Agrees,
		"by how much a message of 1 byte", "the overhead is noticeable: more than", "from 100 bytes on it is less", "the throughput's results",
		"the parallel protocol sends", "the mirror protocol sends", "overhead of BT", "less than 5 % in all cases", "the time of all processors",
		"receives from any source", "the efficiency is close to 50 %", "programs with replicas do",
	)
	check(t, r, report.Differs, "in instructions of a message of 8 bytes", "an additional acknowledgement", "the printed overheads")
	check(t, r, report.Open, "with 256 ranks")
}

// TestOtherwise: measurements unlike the paper's don't, and the reason is what was tested.
func TestOtherwise(t *testing.T) {
	r := result(t, Parameters{Measured: invented(func(part Part, name string, bytes int, s Setting) float64 {
		switch {
		case s == Beside || s == Alone:
			return 0
		case part == Application && anySource(name):
			return 0.30
		case part == Application:
			return 0.20
		case s == Each && bytes < 100:
			return 0.42
		case bytes < 100:
			return 0.10
		case bytes <= copiedLimit:
			return 0.60
		}
		return 0.02
	})})
	check(t, r, report.Differs,
		"by how much a message of 1 byte", "the overhead is noticeable: more than", "from 100 bytes on it is less", "the throughput's results",
		"less than 5 % in all cases", "the time of all processors", "receives from any source", "the efficiency is close", "overhead of BT", "overhead of CG",
	)
	for _, c := range r.Claims {
		switch {
		case strings.Contains(c.What, "by how much") && !strings.Contains(c.Explanation, "So the acknowledgements are a part of it."),
			strings.Contains(c.What, "from 100 bytes") && !strings.Contains(c.Explanation, "take +60.4 ("):
			t.Errorf("%s: %s", c.What, c.Explanation)
		}
	}
}

// TestFew: five rounds, or nothing at all, say nothing.
func TestFew(t *testing.T) {
	var few []Measurement
	for _, m := range invented(asPaper) {
		if m.Round < 5 {
			few = append(few, m)
		}
	}
	check(t, result(t, Parameters{Measured: few}), report.Open,
		"by how much a message of 1 byte", "the overhead is noticeable: more than", "from 100 bytes on it is less", "less than 5 % in all cases", "receives from any source", "overhead of CG")
	check(t, result(t, Parameters{}), report.Open, "latency and throughput of a ping-pong", "less than 5 % in all cases", "with 256 ranks")
}

// TestWide: a wide interval agrees with no single number.
func TestWide(t *testing.T) {
	all := invented(asPaper)
	for i := range all {
		if all[i].Setting == Parallel && all[i].Part == PingPong && all[i].Round%2 == 1 {
			all[i].Seconds *= 1.5
		} else if all[i].Setting == Parallel && all[i].Part == PingPong {
			all[i].Seconds /= 1.5
		}
	}
	check(t, result(t, Parameters{Measured: all}), report.Open, "by how much a message of 1 byte", "from 100 bytes on it is less")
}

// TestTables: programs stand beside the rows that their names say, simulated ones too.
func TestTables(t *testing.T) {
	predicted, err := ReadPredictions(strings.NewReader(`pattern,ranks,replicas,protocol,bytes,native_ms,replicated_ms,deaths
cg,64,2,parallel,8,100,101,0
cg,256,2,parallel,8,100,104,0
cg,256,2,mirror,8,100,150,0
stencil-cg,256,2,parallel,8,100,101,0
halo2d,256,2,parallel,8,100,190,0
fft,256,2,parallel,8,100,190,1
`), "")
	if err != nil {
		t.Fatal(err)
	}
	r := result(t, Parameters{Measured: invented(asPaper), Predicted: predicted, PredictedBy: "invented"})
	check(t, r, report.Agrees, "with 256 ranks")
	rows := map[string][]string{}
	for _, s := range r.Sections {
		for _, table := range s.Tables {
			for _, row := range table.Rows {
				key := table.Name + " " + row[0]
				if row[0] == "—" {
					key = table.Name + " " + row[4]
				}
				rows[key] = row
			}
		}
	}
	for key, want := range map[string]string{
		"table-1 BT":             "BT 267.24 271.21 1.49 bt.A.4 2 × 2 4.00 4.08 +2.3 (+",
		"table-1 CG":             "CG 210.37 220.71 4.92 cg 2 × 2",
		"table-1 FT":             "FT 130.61 134.58 3.04 — — — — — — — —",
		"table-2 HPCCG":          "HPCCG 91.13 91.29 0.18 — — — — — — 256 × 2 +1.0",
		"table-2 cg, any source": "— — — — cg, any source 2 × 2",
		"others ./solver x":      "— — — — ./solver x",
	} {
		if got := strings.Join(rows[key], " "); !strings.HasPrefix(got, want) {
			t.Errorf("%s: %s, want %s …", key, got, want)
		}
	}
	if row := rows["table-1 CG"]; row == nil || row[len(row)-1] != "+4.0" {
		t.Errorf("CG isn't predicted for 256 ranks: %q", row)
	}
	predicted[1].Replicated = 0.11
	check(t, result(t, Parameters{Predicted: predicted}), report.Differs, "with 256 ranks")
}

func TestRowOf(t *testing.T) {
	for name, want := range map[string]string{
		"bt.A.4": "BT", "cg": "CG", "cg, any source": "", "multigrid": "MG", "MG.C.16": "MG", "fft": "FT", "sp": "SP", "test_HPCCG 48 48 48": "HPCCG",
		"cm1.exe": "CM1", "stencil-cg": "HPCCG", "solver": "", "": "", "btree": "",
	} {
		if got := rowOf(name); got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestDamagedPredictions(t *testing.T) {
	head := "pattern,ranks,replicas,protocol,native_ms,replicated_ms\n"
	for text, want := range map[string]string{
		"":                                "is empty",
		"pattern,ranks\n":                 "there is no column replicas",
		head + "cg,x,2,parallel,1,1\n":    `line 2: ranks: "x": want a number`,
		head + "cg,1,2,parallel,1,1\n":    "line 2: 1 ranks with 2 replicas",
		head + "cg,4,2,leader,1,1\n":      `line 2: protocol: "leader"`,
		head + "cg,4,2,parallel,soon,1\n": `line 2: native_ms: "soon": want milliseconds`,
		head + "cg,4,2,parallel,0,1\n":    "line 2: want times above 0",
		head + "cg,4,2,parallel,1,NaN\n":  "line 2: want times above 0",
		head + "cg,4,2,parallel,1\n":      "line 2",
	} {
		if _, err := ReadPredictions(strings.NewReader(text), ""); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	if _, err := ReadPredictions(strings.NewReader(head+"halo2d,4,2,parallel,1,1\n"), "EP"); err == nil || !strings.Contains(err.Error(), `row "EP": the paper's tables have BT, CG`) {
		t.Error(err)
	}
	if all, err := ReadPredictions(strings.NewReader(head+"halo2d,4,2,parallel,1,1\n"), "BT"); err != nil || all[0].StandsFor != "BT" {
		t.Error(all, err)
	}
}

func TestValidate(t *testing.T) {
	for name, m := range map[string]Measurement{
		"part":     {Part: "x", Name: "C", Ranks: 2, Replicas: 2, Seconds: 1},
		"replicas": {Part: PingPong, Name: "C", Ranks: 2, Replicas: 1, Seconds: 1},
		"time":     {Part: PingPong, Name: "C", Ranks: 2, Replicas: 2},
		"messages": {Part: Traffic, Name: "C", Ranks: 2, Replicas: 2, Seconds: 1},
		"counts":   {Part: Instructions, Name: "C", Ranks: 2, Replicas: 2, Seconds: 1},
		"name":     {Part: PingPong, Ranks: 2, Replicas: 2, Seconds: 1},
	} {
		if _, err := Run(Parameters{Measured: []Measurement{m}}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestSame: the report depends on nothing but its parameters, and what isn't measured leaves no
// empty figure.
func TestSame(t *testing.T) {
	var pages [2][]byte
	for i := range pages {
		dir := t.TempDir()
		if err := result(t, Parameters{Measured: invented(asPaper)}).Write(dir); err != nil {
			t.Fatal(err)
		}
		var err error
		if pages[i], err = os.ReadFile(filepath.Join(dir, "index.html")); err != nil {
			t.Fatal(err)
		}
	}
	if !bytes.Equal(pages[0], pages[1]) {
		t.Error("two pages of the same measurements")
	}
	for _, p := range []Parameters{{}, {Measured: invented(asPaper)[:8]}, {Measured: invented(asPaper)[:1]}} {
		if err := result(t, p).Write(t.TempDir()); err != nil {
			t.Error(err)
		}
	}
}
