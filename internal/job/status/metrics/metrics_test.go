package metrics

import (
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"banyan/internal/job/status"
)

func scrape(s status.State, begun bool) (int, string) {
	w := httptest.NewRecorder()
	Handler(func() (status.State, bool) { return s, begun }).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Code, w.Body.String()
}

func observed(ranks int) status.State {
	t := status.NewTracker(status.Job{Name: "heat-1", Ranks: ranks, Replicas: 2, Protocol: "parallel", Transport: "auto"})
	o := &status.Observation{At: 1e9, Hosts: []status.Host{{Name: "a", State: status.HostRuns, Cores: 4}, {Name: "b", State: status.HostLost}}}
	var all []status.Sample
	for p := range 2 * ranks {
		o.Slots = append(o.Slots, status.Slot{Rank: p % ranks, Replica: p / ranks, Host: p / ranks, State: []string{status.Live, status.Dead}[p/ranks]})
		all = append(all, status.Sample{Process: p, Stamp: 1, Counters: status.Counters{Sent: 5, Bytes: 70, RetainedBytes: 3, Waits: "waits", WaitsFor: status.AnyRank}})
	}
	for p := ranks; p < 2*ranks; p++ {
		o.News = append(o.News, status.Event{At: 1, Kind: status.KindDeath, Process: &p, Cause: "host lost"})
	}
	o.News = append(o.News, status.Event{At: 1, Kind: status.KindHealed, Took: 0.25}, status.Event{At: 1, Kind: status.KindView, View: 9, Members: ranks})
	t.Observe(o)
	t.Sample(2e9, all)
	return *t.State()
}

func TestMetrics(t *testing.T) {
	code, text := scrape(observed(3), true)
	if code != 200 {
		t.Fatal(code, text)
	}
	for _, want := range []string{
		`banyan_processes{host="a",job_name="heat-1",state="live"} 3`, `banyan_processes{host="b",job_name="heat-1",state="dead"} 3`,
		`banyan_deaths_total{cause="host lost",host="b",job_name="heat-1"} 3`, `banyan_heals_total{job_name="heat-1",outcome="healed"} 1`,
		`banyan_heal_seconds_total{job_name="heat-1"} 0.25`, `banyan_view_number{job_name="heat-1"} 9`, `banyan_ranks_unprotected{job_name="heat-1"} 3`,
		`banyan_hosts{job_name="heat-1",state="lost"} 1`, `banyan_messages_total{job_name="heat-1"} 15`, `banyan_retained_bytes{host="a",job_name="heat-1"} 9`,
		`banyan_processes_waiting{host="a",job_name="heat-1"} 3`, `banyan_deaths_survivable{job_name="heat-1"} 0`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
	for _, problem := range faults(text) {
		t.Error(problem)
	}
}

// faults says what is wrong with an exposition. deploy/formats has Prometheus's own parser
// look at it, too.
func faults(text string) (all []string) {
	series := regexp.MustCompile(`^(banyan_[a-z_]+)\{([a-z_]+="(?:[^"\\\n]|\\[\\n"])*"(?:,[a-z_]+="(?:[^"\\\n]|\\[\\n"])*")*)\} (\S+)$`)
	head := regexp.MustCompile(`^# HELP (\S+) .+\n# TYPE (\S+) (gauge|counter)$`)
	seen := map[string]bool{}
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	name := ""
	for i := 0; i < len(lines); i++ {
		if strings.HasPrefix(lines[i], "# HELP") && i+1 < len(lines) {
			m := head.FindStringSubmatch(lines[i] + "\n" + lines[i+1])
			if m == nil || m[1] != m[2] || seen[m[1]] || (m[3] == "counter") != strings.HasSuffix(m[1], "_total") {
				all = append(all, "a bad head: "+lines[i]+"\n"+lines[i+1])
				continue
			}
			name, seen[m[1]] = m[1], true
			i++
			continue
		}
		m := series.FindStringSubmatch(lines[i])
		if m == nil || m[1] != name {
			all = append(all, "no series of "+name+": "+lines[i])
			continue
		}
		if _, err := strconv.ParseFloat(m[3], 64); err != nil || seen[m[1]+m[2]] {
			all = append(all, "no value, or twice: "+lines[i])
		}
		seen[m[1]+m[2]] = true
	}
	return all
}

// faults finds what it should.
func TestFaults(t *testing.T) {
	const good = "# HELP banyan_a A.\n# TYPE banyan_a gauge\nbanyan_a{b=\"c\"} 1\n"
	if found := faults(good); found != nil {
		t.Fatal(found)
	}
	for _, change := range [][2]string{
		{"# HELP banyan_a A.\n", ""}, {"TYPE banyan_a", "TYPE banyan_b"}, {"gauge", "counter"}, {"gauge", "sum"}, {`"c"`, `c`}, {`"c"`, `"""`}, {"} 1", "} one"}, {"\nbanyan_a", "\nbanyan_b"},
		{good, good + good}, {"} 1\n", "} 1\nbanyan_a{b=\"c\"} 2\n"},
	} {
		if bad := strings.Replace(good, change[0], change[1], 1); faults(bad) == nil {
			t.Errorf("nothing is wrong with\n%s", bad)
		}
	}
}

// What a job's name may contain is escaped.
func TestEscaped(t *testing.T) {
	s := observed(1)
	s.Job.Name = "a\\b\"c\nd\xff"
	_, text := scrape(s, true)
	if want := `banyan_ranks{job_name="a\\b\"c\nd` + "\uFFFD\"} 1\n"; !strings.Contains(text, want) {
		t.Errorf("there is no %s in\n%s", want, text)
	}
	for _, problem := range faults(text) {
		t.Error(problem)
	}
}

// The number of series doesn't depend on how many ranks there are, and no label is a rank's.
func TestNeverByRank(t *testing.T) {
	_, few := scrape(observed(2), true)
	_, many := scrape(observed(500), true)
	if a, b := strings.Count(few, "\n"), strings.Count(many, "\n"); a != b {
		t.Errorf("%d lines for 2 ranks, %d for 500", a, b)
	}
	if m := regexp.MustCompile(`(rank|process|pid)="`).FindString(many); m != "" {
		t.Errorf("there is a label %s", m)
	}
}

// Before the job has begun there are no metrics, and that is no error.
func TestBeforeTheJob(t *testing.T) {
	if code, text := scrape(status.State{}, false); code != 200 || strings.Contains(text, "banyan_") {
		t.Errorf("%d %s", code, text)
	}
}
