package broadcast

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/bench/peers"
)

func plan(t *testing.T) *Plan {
	t.Helper()
	schemes, err := Schemes([]string{"binomial", "gossip"}, []string{"none", "skip-ahead:1", "checked"}, 50*time.Microsecond)
	if err != nil {
		t.Fatal(err)
	}
	return &Plan{
		Ranks: []int{8, 64}, Bytes: []int{8, 1 << 20}, Dead: []float64{0, 1, 2, 5}, Schemes: schemes,
		Transport: "auto", Rounds: 3, Count: 20, Limit: time.Second, Seed: 1,
	}
}

func TestSettings(t *testing.T) {
	p := plan(t)
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	count := map[int]int{}
	for _, s := range p.Settings([]string{"mpich"}) {
		count[s.Ranks]++
		if s.Library == "mpich" && (s.Dead > 0 || s.Scheme != "") {
			t.Errorf("a peer with %+v", s)
		}
		for round := range 5 {
			v := p.victims(&s, round)
			if len(v) != s.Dead || slices.Contains(v, 0) || len(slices.Compact(v)) != s.Dead || s.Dead > 0 && v[len(v)-1] >= s.Ranks {
				t.Errorf("%+v: ranks %v are dead", s, v)
			}
		}
	}
	// 7 schemes, 2 sizes, and the peer; of 8 ranks 0 or 1 are dead, of 64 none, 1, 2 or 4.
	if count[8] != 2*(7*2+1) || count[64] != 2*(7*4+1) {
		t.Errorf("%v settings", count)
	}
	if n := p.broadcasts(1 << 20); n*17 > segments || n < 1 {
		t.Errorf("%d broadcasts of 1 MiB", n)
	}
}

func TestHosts(t *testing.T) {
	p := plan(t)
	p.Hosts = []string{"h0", "h1", "h2"}
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	for ranks, want := range map[int]string{8: "h0:2,h1:3,h2:3", 2: "h1:1,h2:1", 9: "h0:3,h1:3,h2:3"} {
		if got := p.slots(ranks); got != want {
			t.Errorf("%d ranks on %s, want %s", ranks, got, want)
		}
	}
	for _, l := range peers.Libraries("bin") {
		if got := p.on(l, 2); len(got) != 2 || got[0] == "" {
			t.Errorf("%s is told its hosts by %q", l.Name, got)
		}
	}
	for _, wrong := range []string{"", "h0:2", "h0 h1"} {
		p.Hosts = []string{"h1", wrong}
		if p.Check() == nil {
			t.Errorf("host %q is accepted", wrong)
		}
	}
	p.Hosts, p.Transport = []string{"h0"}, "shm"
	if p.Check() == nil {
		t.Error("shared memory between hosts is accepted")
	}
}

func TestRows(t *testing.T) {
	p := plan(t)
	p.Ranks, p.Bytes, p.Dead = []int{8}, []int{8}, []float64{0, 5}
	settings := p.Settings([]string{"mpich"})
	samples := make([][]sample, len(settings))
	for i, s := range settings {
		for round := range p.Rounds {
			x := sample{ns: float64(100 * (round + 1))}
			switch {
			case s.Correction() == "checked":
				x.ns *= 2
			case s.Correction() == "none" && s.Dead > 0:
				x = sample{missed: 20}
			}
			samples[i] = append(samples[i], x)
		}
	}
	all := rows(p, settings, samples)
	for _, r := range all {
		want := 1.0
		if r.Correction() == "checked" {
			want = 2
		}
		if lost := r.Correction() == "none" && r.Dead > 0; lost {
			if !math.IsNaN(r.Latency.Median) || r.Missed != 1 {
				t.Errorf("missed: %+v", r)
			}
		} else if r.Ratio.Median != want || r.Missed != 0 {
			t.Errorf("%+v, want the ratio %v", r, want)
		}
	}
	svg, err := Chart(all).SVG()
	if err != nil || !strings.Contains(string(svg), "<svg") {
		t.Errorf("%v", err)
	}
}

// The rows of an interrupted measurement are of its whole rounds, and of none before the first.
func TestWholeRounds(t *testing.T) {
	p := plan(t)
	p.Ranks, p.Bytes, p.Dead = []int{8}, []int{8}, []float64{0}
	settings := p.Settings([]string{"mpich"})
	samples := make([][]sample, len(settings))
	for i, s := range settings {
		if s.Library == "banyan" { // the peer failed
			samples[i] = []sample{{ns: 100}, {ns: 200}, {ns: 900}}[:2+i%2]
		}
	}
	all := whole(p, settings, samples, 2)
	if len(all) != len(settings)-1 {
		t.Errorf("%d rows of %d settings, of which a peer's failed", len(all), len(settings))
	}
	for _, r := range all {
		if r.Library != "banyan" || r.Latency.High > 200 || r.Ratio.Median != 1 {
			t.Errorf("%+v", r)
		}
	}
	if all := whole(p, settings, samples, 0); all != nil {
		t.Errorf("%d rows of no round", len(all))
	}
}

func TestBadPlans(t *testing.T) {
	for want, spoil := range map[string]func(p *Plan){
		"ranks: want": func(p *Plan) { p.Ranks = []int{1} },
		"bytes: want": func(p *Plan) { p.Bytes = []int{2 << 20} },
		"% dead":      func(p *Plan) { p.Dead = []float64{-1} },
		"NaN":         func(p *Plan) { p.Dead = []float64{math.NaN()} },
		"nothing":     func(p *Plan) { p.Schemes = nil },
		"transport":   func(p *Plan) { p.Transport = "pigeon" },
		"at least 1":  func(p *Plan) { p.Rounds = 0 },
		"limit":       func(p *Plan) { p.Limit = 0 },
	} {
		p := plan(t)
		spoil(p)
		if err := p.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", want, err)
		}
	}
	if _, err := Schemes([]string{"oak"}, []string{"none"}, 0); err == nil {
		t.Error("a tree that doesn't exist")
	}
}
