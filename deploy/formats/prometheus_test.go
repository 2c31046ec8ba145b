package formats

import (
	"net/http/httptest"
	"testing"

	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"banyan/internal/job/status"
	"banyan/internal/job/status/metrics"
)

// observed is a job of two hosts in which all has happened.
func observed() status.State {
	t := status.NewTracker(status.Job{Name: "a\\b\"c\nd\xff", Ranks: 2, Replicas: 2, Protocol: "parallel", Transport: "auto"})
	o := &status.Observation{At: 1e9, Hosts: []status.Host{{Name: "a", State: status.HostRuns, Cores: 4}, {Name: "b", State: status.HostLost}}}
	var all []status.Sample
	for p := range 4 {
		o.Slots = append(o.Slots, status.Slot{Rank: p % 2, Replica: p / 2, Host: p / 2, State: []string{status.Live, status.Dead}[p/2]})
		all = append(all, status.Sample{Process: p, Stamp: 1, Counters: status.Counters{Sent: 5, Bytes: 70, RetainedBytes: 3, Waits: "waits", WaitsFor: status.AnyRank}})
	}
	dead := 2
	o.News = []status.Event{{At: 1, Kind: status.KindDeath, Process: &dead, Cause: "host lost"}, {At: 1, Kind: status.KindHealed, Took: 0.25}, {At: 1, Kind: status.KindView, View: 9, Members: 2}}
	t.Observe(o)
	t.Sample(2e9, all)
	return *t.State()
}

func TestPrometheusReadsIt(t *testing.T) {
	w := httptest.NewRecorder()
	metrics.Handler(func() (status.State, bool) { return observed(), true }).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	problems, err := promlint.New(w.Body).Lint()
	if err != nil || len(problems) > 0 {
		t.Errorf("%v %+v", err, problems)
	}
}
