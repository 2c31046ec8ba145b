package prometheus_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// alertCases is what alerts_test.yaml says, as far as tests of ours need it.
type alertCases struct {
	Tests []struct {
		Series []struct{ Series string } `yaml:"input_series"`
		Cases  []struct {
			Alert string           `yaml:"alertname"`
			Fires []map[string]any `yaml:"exp_alerts"`
		} `yaml:"alert_rule_test"`
	}
}

// Each alert has a case in which it fires and one in which it doesn't, of metrics and labels that
// there are.
func TestAlertCases(t *testing.T) {
	var cases alertCases
	read(t, "alerts_test.yaml", &cases)
	known := exported(t)
	fires, rests := map[string]bool{}, map[string]bool{}
	for _, c := range cases.Tests {
		for _, s := range c.Series {
			if p := check(s.Series, withTarget(known)); len(p) > 0 {
				t.Errorf("%s: %q", s.Series, p)
			}
		}
		for _, a := range c.Cases {
			if len(a.Fires) > 0 {
				fires[a.Alert] = true
			} else {
				rests[a.Alert] = true
			}
		}
	}
	alerts, err := os.ReadFile("alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	names := regexp.MustCompile(`alert: (\w+)`).FindAllStringSubmatch(string(alerts), -1)
	if len(names) == 0 {
		t.Fatal("no alerts")
	}
	for _, n := range names {
		if !fires[n[1]] || !rests[n[1]] {
			t.Errorf("%s: fires in a case %v, rests in one %v", n[1], fires[n[1]], rests[n[1]])
		}
	}
}

// withTarget adds the label that Prometheus gives to all that it reads of one address.
func withTarget(known map[string][]string) map[string][]string {
	all := map[string][]string{}
	for name, labels := range known {
		all[name] = append(slices.Clone(labels), "instance")
	}
	return all
}

// Prometheus' own tool takes the rules and the configuration, and plays the cases.
func TestPromtool(t *testing.T) {
	tool, err := exec.LookPath("promtool")
	if err != nil {
		t.Skip("promtool isn't installed (Debian's package prometheus has it)")
	}
	dir := t.TempDir()
	for _, name := range []string{"alerts.yaml", "alerts_test.yaml", "prometheus.yaml"} {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "token"), []byte("secret"), 0o600); err != nil { // prometheus.yaml names it
		t.Fatal(err)
	}
	for _, args := range [][]string{{"check", "rules", "alerts.yaml"}, {"check", "config", "prometheus.yaml"}, {"test", "rules", "alerts_test.yaml"}} {
		c := exec.CommandContext(t.Context(), tool, args...)
		c.Dir = dir
		if out, err := c.CombinedOutput(); err != nil {
			t.Errorf("promtool %q: %v\n%s", args, err, out)
		}
	}
}

func read(t *testing.T, name string, into any) {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(text, into); err != nil {
		t.Fatal(name, err)
	}
}
