package metrics

import (
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

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
		all = append(all, status.Sample{Process: p, Stamp: 1, Counters: status.Counters{Sent: 5, Bytes: 70, RetainedBytes: 3, Safepoints: 4, Expected: 9, Rounds: 6, Late: 2, Waits: "waits", WaitsFor: status.AnyRank}})
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
		`banyan_safepoints{job_name="heat-1"} 4`, `banyan_safepoints_expected{job_name="heat-1"} 9`, `banyan_seconds_left{job_name="heat-1"} 0`,
		`banyan_detector_rounds_total{host="a",job_name="heat-1"} 18`, `banyan_late_heartbeats_total{host="a",job_name="heat-1"} 6`,
	} {
		if !strings.Contains(text, want+"\n") {
			t.Errorf("there is no %s", want)
		}
	}
	problems, err := promlint.New(strings.NewReader(text)).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %+v\n%s", err, problems, text)
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
