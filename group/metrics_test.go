package group_test

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/promhttp"
	"github.com/prometheus/client_golang/prometheus/testutil/promlint"

	"banyan/group"
)

// collector shows metrics by the Prometheus client, as docs/guide/group.md has it.
type collector struct{ from group.Metered }

func (c collector) Describe(chan<- *prometheus.Desc) {}

func (c collector) Collect(to chan<- prometheus.Metric) {
	for _, m := range c.from.Metrics() {
		kind := prometheus.GaugeValue
		if m.Counter {
			kind = prometheus.CounterValue
		}
		labels := prometheus.Labels{}
		for _, l := range m.Labels {
			labels[l.Name] = l.Value
		}
		to <- prometheus.MustNewConstMetric(prometheus.NewDesc(m.Name, m.Help, nil, labels), kind, m.Value)
	}
}

// What a member counts can be shown without and with the Prometheus client, and both say the same:
// of a group of three in which one leaves and one dies.
func TestMetrics(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	secret := []byte("sixteen bytes or more")
	join := func(name string, seeds ...string) *group.Member {
		t.Helper()
		m, err := group.Join(ctx, group.Config{Group: `of "three"`, Name: name, Secret: secret, Seeds: seeds})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	a := join("a")
	defer a.Close()
	b, c := join("b", a.Self().Address), join("c", a.Self().Address)
	defer c.Close()
	if err := b.Leave(ctx); err != nil {
		t.Fatal(err)
	}
	b.Close()
	c.Close() // to the others it has died
	for change := range a.Watch(ctx) {
		if len(change.View.Died) == 1 {
			break
		}
	}
	var text strings.Builder
	if err := group.WriteMetrics(&text, a, c); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		`banyan_group_members{group="of \"three\"",member="a"} 1`, `banyan_group_view_number{group="of \"three\"",member="a"} 5`,
		`banyan_group_views_total{group="of \"three\"",member="a"} 5`, `banyan_group_joined_total{group="of \"three\"",member="a"} 3`,
		`banyan_group_left_total{group="of \"three\"",member="a"} 1`, `banyan_group_member{group="of \"three\"",member="a"} 1`,
		`banyan_group_member{group="of \"three\"",member="c"} 0`, `banyan_group_died_total{group="of \"three\"",member="c",cause="ended"} 0`,
	} {
		if !strings.Contains(text.String(), want+"\n") {
			t.Errorf("there is no %s in\n%s", want, text.String())
		}
	}
	// On one host the kernel tells of the end; if it can't, silence does.
	if n := strings.Count(text.String(), `banyan_group_died_total{group="of \"three\"",member="a",cause="ended"} 1`) +
		strings.Count(text.String(), `banyan_group_died_total{group="of \"three\"",member="a",cause="silent"} 1`); n != 1 {
		t.Errorf("deaths: %s", text.String())
	}
	if problems, err := promlint.New(strings.NewReader(text.String())).Lint(); err != nil || len(problems) > 0 {
		t.Errorf("%v %+v", err, problems)
	}

	r := prometheus.NewRegistry()
	r.MustRegister(collector{a})
	w := httptest.NewRecorder()
	promhttp.HandlerFor(r, promhttp.HandlerOpts{}).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	if got := w.Body.String(); !strings.Contains(got, `banyan_group_views_total{group="of \"three\"",member="a"} 5`) || !strings.Contains(got, "# TYPE banyan_group_views_total counter") {
		t.Errorf("the client says\n%s", got)
	}
}
