package prometheus_test

import (
	"encoding/json"
	"io"
	"net/http/httptest"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"go.yaml.in/yaml/v3"

	"banyan/internal/job/status"
	"banyan/internal/job/status/metrics"
)

// exported are the metrics of a job in which all has happened, with their labels.
func exported(t *testing.T) map[string][]string {
	t.Helper()
	s := status.State{Counting: true, Hosts: []status.Host{{Name: "a", State: status.HostRuns}}, Slots: []status.Slot{{State: status.Live, Counters: new(status.Counters)}},
		Deaths: []status.DeathCount{{Host: "a", Cause: "signal", Count: 1}}}
	w := httptest.NewRecorder()
	metrics.Handler(func() (status.State, bool) { return s, true }).ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	text, err := io.ReadAll(w.Body)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string][]string{}
	line := regexp.MustCompile(`(?m)^(banyan_\w+)\{([^}]*)\}`)
	label := regexp.MustCompile(`(\w+)="`)
	for _, m := range line.FindAllStringSubmatch(string(text), -1) {
		for _, l := range label.FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(all[m[1]], l[1]) {
				all[m[1]] = append(all[m[1]], l[1])
			}
		}
	}
	if len(all) < 15 {
		t.Fatalf("only %d metrics: %s", len(all), text)
	}
	return all
}

// check says what is wrong with an expression: a metric or label that there isn't, or a bracket.
func check(expr string, known map[string][]string) (problems []string) {
	names := regexp.MustCompile(`(banyan_\w+)(\{[^}]*\})?`).FindAllStringSubmatch(expr, -1)
	if len(names) == 0 {
		problems = append(problems, "no metric of a job")
	}
	may := []string{"instance"}
	for _, m := range names {
		labels, is := known[m[1]]
		if !is {
			problems = append(problems, "there is no metric "+m[1])
			continue
		}
		may = append(may, labels...)
		for _, l := range regexp.MustCompile(`(\w+)\s*(=~|!~|!=|=)`).FindAllStringSubmatch(m[2], -1) {
			if !slices.Contains(labels, l[1]) {
				problems = append(problems, m[1]+" has no label "+l[1])
			}
		}
	}
	for _, m := range regexp.MustCompile(`\b(?:by|on|without)\s*\(([^)]*)\)`).FindAllStringSubmatch(expr, -1) {
		for _, l := range strings.Split(m[1], ",") {
			if !slices.Contains(may, strings.TrimSpace(l)) {
				problems = append(problems, "nothing has the label "+l)
			}
		}
	}
	for _, pair := range []string{"()", "[]", "{}"} {
		if strings.Count(expr, pair[:1]) != strings.Count(expr, pair[1:]) {
			problems = append(problems, "brackets "+pair)
		}
	}
	return problems
}

// The check refuses what isn't there.
func TestCheck(t *testing.T) {
	known := exported(t)
	for expr, fine := range map[string]bool{
		`banyan_ranks_lost > 0`: true, `sum by (host) (banyan_processes{state="live"})`: true,
		`banyan_rank_lost > 0`: false, `banyan_processes{rank="3"}`: false, `sum by (rank) (banyan_processes)`: false, `rate(banyan_messages_total[1m]`: false, `up == 0`: false,
	} {
		if p := check(expr, known); (len(p) == 0) != fine {
			t.Errorf("%s: %q", expr, p)
		}
	}
}

func TestAlerts(t *testing.T) {
	text, err := os.ReadFile("alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Name  string
			Rules []struct {
				Alert, Expr, For    string
				Labels, Annotations map[string]string
			}
		}
	}
	d := yaml.NewDecoder(strings.NewReader(string(text)))
	d.KnownFields(true)
	if err := d.Decode(&file); err != nil {
		t.Fatal(err)
	}
	known, seen := exported(t), map[string]bool{}
	for _, g := range file.Groups {
		for _, r := range g.Rules {
			for _, p := range check(r.Expr, known) {
				t.Errorf("%s: %s", r.Alert, p)
			}
			if seen[r.Alert] || r.Alert == "" || r.Labels["severity"] == "" || !strings.Contains(r.Annotations["summary"], "$labels.job_name") {
				t.Errorf("%q: twice, or without severity or summary", r.Alert)
			}
			seen[r.Alert] = true
		}
	}
	if len(seen) < 5 {
		t.Errorf("%d alerts", len(seen))
	}
}

func TestDashboard(t *testing.T) {
	text, err := os.ReadFile("dashboard.json")
	if err != nil {
		t.Fatal(err)
	}
	var dashboard struct {
		Title  string
		Panels []struct {
			ID      int
			Title   string
			Targets []struct{ Expr string }
		}
	}
	if err := json.Unmarshal(text, &dashboard); err != nil {
		t.Fatal(err)
	}
	known, ids := exported(t), map[int]bool{}
	for _, panel := range dashboard.Panels {
		if ids[panel.ID] || len(panel.Targets) == 0 {
			t.Errorf("panel %d %q: its id is another's, or it shows nothing", panel.ID, panel.Title)
		}
		ids[panel.ID] = true
		for _, x := range panel.Targets {
			for _, p := range check(x.Expr, known) {
				t.Errorf("%s: %s", panel.Title, p)
			}
		}
	}
	if len(ids) < 8 {
		t.Errorf("%d panels", len(ids))
	}
}

// Prometheus' own file is YAML, and names the rules.
func TestConfiguration(t *testing.T) {
	text, err := os.ReadFile("prometheus.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var c struct {
		Rules   []string         `yaml:"rule_files"`
		Scrapes []map[string]any `yaml:"scrape_configs"`
	}
	if err := yaml.Unmarshal(text, &c); err != nil || len(c.Scrapes) != 1 {
		t.Fatal(err, c)
	}
	for _, r := range c.Rules {
		if _, err := os.Stat(r); err != nil {
			t.Error(err)
		}
	}
}
