package verdict

import (
	"strings"
	"testing"
	"time"
)

var begin = time.Date(2026, 11, 23, 0, 0, 0, 0, time.UTC)

func hit(host string, at float64) Hit {
	return Hit{host, begin.Add(time.Duration(at * float64(time.Second)))}
}

// Two ranks with two replicas: rank 0 has processes 0 and 2, rank 1 has 1 and 3.
func ended(outcome string, code int, printed string, change func(e *Ended)) *Ended {
	e := &Ended{Code: code, Printed: printed, Want: "one\ntwo\n", Report: &Report{Ranks: 2, Replicas: 2, Start: begin, ExitCode: code, Outcome: outcome,
		Hosts: []Host{{"a", []int{0, 1}}, {"b", []int{2, 3}}, {"c", nil}}}}
	if change != nil {
		change(e)
	}
	return e
}

func TestJudge(t *testing.T) {
	first, second := Death{Rank: 0, Replica: 0, Process: 0, Host: "a", Cause: "host lost", At: 2}, Death{Rank: 0, Replica: 1, Process: 2, Host: "b", Cause: "host lost", At: 3}
	both := func(e *Ended) {
		e.Report.LostRanks, e.Report.Deaths = []int{0}, []Death{first, second}
		e.Hits = []Hit{hit("a", 1), hit("b", 1)}
	}
	with := func(change func(e *Ended)) func(e *Ended) {
		return func(e *Ended) { both(e); change(e) }
	}
	stopped := func(at float64) Death {
		return Death{Rank: 1, Replica: 0, Process: 1, Host: "c", Cause: "exit", At: at}
	}
	for name, x := range map[string]struct {
		e    *Ended
		says string // "": it is right
	}{
		"completed":             {ended(Completed, 0, "one\ntwo\n", nil), ""},
		"too little":            {ended(Completed, 0, "one\n", nil), "isn't that of an undisturbed run: 4 bytes, not 8"},
		"twice":                 {ended(Completed, 0, "one\none\ntwo\n", nil), "from byte 4 on"},
		"another code":          {ended(Completed, 0, "one\ntwo\n", func(e *Ended) { e.Code = 1 }), "1, and 0 in the report"},
		"completed with a code": {ended(Completed, 3, "one\ntwo\n", nil), "exit code 3"},
		"timed out":             {ended("timed out", 124, "", nil), `"timed out"`},

		"lost":             {ended(RankLost, 1, "one\n", both), ""},
		"lost, code 0":     {ended(RankLost, 0, "one\n", both), "exit code is 0"},
		"lost, twice":      {ended(RankLost, 1, "one\none\n", both), "isn't the beginning"},
		"lost, not named":  {ended(RankLost, 1, "one\n", with(func(e *Ended) { e.Report.LostRanks = nil })), "doesn't say which"},
		"a replica left":   {ended(RankLost, 1, "one\n", with(func(e *Ended) { e.Report.Deaths = []Death{first} })), "has 1 replicas"},
		"a host not hit":   {ended(RankLost, 1, "one\n", with(func(e *Ended) { e.Hits = e.Hits[:1] })), "no fault had hit b"},
		"a host hit later": {ended(RankLost, 1, "one\n", with(func(e *Ended) { e.Hits[1] = hit("b", 4) })), "no fault had hit b"},
		"a rank not named": {ended(RankLost, 1, "one\n", with(func(e *Ended) {
			e.Report.Deaths = append(e.Report.Deaths, Death{Rank: 1, Process: 1, Host: "a", At: 2}, Death{Rank: 1, Replica: 1, Process: 3, Host: "b", At: 3})
		})), "rank 1 has no replica left"},
		"healed": {ended(RankLost, 1, "one\n", with(func(e *Ended) {
			e.Report.Heals = []Heal{{Process: 0, Host: "c", Began: 2.1, Took: 0.5}}
		})), "has 1 replicas"},
		"healed in vain": {ended(RankLost, 1, "one\n", with(func(e *Ended) {
			e.Report.Heals = []Heal{{Process: 0, Host: "c", Began: 2.1, Took: 0.5, Error: "no"}}
		})), ""},
		"healed, and died where nothing was": {ended(RankLost, 1, "one\n", with(func(e *Ended) {
			e.Report.Heals = []Heal{{Process: 0, Host: "c", Began: 2.1, Took: 0.5}}
			e.Report.Deaths = append(e.Report.Deaths, Death{Process: 0, Host: "c", Cause: "silence", At: 2.8})
		})), "no fault had hit c"},

		"a replacement died before it was healed": {ended(RankLost, 1, "one\n", with(func(e *Ended) {
			e.Report.Deaths = append(e.Report.Deaths, Death{Process: 0, Host: "c", Cause: "host lost", At: 2.8})
			e.Hits = append(e.Hits, hit("c", 2.7))
		})), ""},

		"no majority": {ended(RankLost, 1, "one\n", with(func(e *Ended) {
			e.Report.LostRanks = []int{0, 1}
			e.Report.Deaths = append(e.Report.Deaths, stopped(4), Death{Rank: 1, Replica: 1, Process: 3, Host: "b", At: 3})
		})), ""},
		"a majority": {ended(RankLost, 1, "one\n", func(e *Ended) {
			e.Report.LostRanks, e.Report.Deaths = []int{1}, []Death{stopped(4)}
		}), "4 members lived"},
		"a majority of a smaller view": {ended(RankLost, 1, "one\n", func(e *Ended) {
			e.Report.LostRanks, e.Report.Deaths = []int{0}, []Death{first, stopped(4)}
			e.Report.Views, e.Hits = []View{{Members: 2, At: 3}}, []Hit{hit("a", 1)}
		}), "2 of the last view's 2"},
	} {
		err := x.e.Judge()
		if x.says == "" && err != nil || x.says != "" && (err == nil || !strings.Contains(err.Error(), x.says)) {
			t.Errorf("%s: %v, want %q", name, err, x.says)
		}
	}
}
