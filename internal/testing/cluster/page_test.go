package cluster_test

import (
	"bufio"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"

	"banyan/internal/job/env"
	"banyan/internal/job/status"
	"banyan/internal/testing/cluster"
)

// page asks a host's page for the job's state, as a program does: over TLS, with the token.
func page(t *testing.T, c *cluster.Cluster, host, address string) (s status.State, ok bool) {
	t.Helper()
	out, err := c.Script(t.Context(), "on", host, "curl", "-sfk", "--max-time", "5", "-H", "Authorization: Bearer secret", address+"api/state").Output()
	return s, err == nil && json.Unmarshal(out, &s) == nil
}

// last is the last event of a kind; nil: there is none.
func last(s status.State, kind string) *status.Event {
	for _, e := range slices.Backward(s.Events) {
		if e.Kind == kind {
			return &e
		}
	}
	return nil
}

// The page of a job is read from an agent: while the launcher lives, when it has been killed and
// the next one leads, and when another host has lost its power. What happened before is still
// there, events have the numbers that follow, and the file of --events goes on.
func TestPageOutlivesItsLauncher(t *testing.T) {
	c := beside(t)
	c.Setenv(t, env.StatusToken, "secret")
	events := c.File(t, "page.events")
	g := slowly(t, c)
	d := detach(t, c, "h0:2,h1:2,h2:2,h3:2", []string{"--status", "0.0.0.0:8700", "--events", events}, heat)
	d.awaitLine("step 1000")
	var s status.State
	see := func(what string, is func() bool) {
		t.Helper()
		until(t, "h1 shows "+what, func() bool {
			var ok bool
			s, ok = page(t, c, "1", "https://h1:8700/")
			return ok && is()
		})
	}
	see("the job, and where else it is shown", func() bool { return s.Totals.Live == 8 && len(s.Addresses) == 5 && s.Totals.Sent > 0 })
	if !slices.Contains(s.Addresses, status.Place{Host: "h2", URL: "https://h2:8700/"}) || s.Old {
		t.Errorf("addresses %v, old %v", s.Addresses, s.Old)
	}
	if out, err := c.Script(t.Context(), "on", "1", "curl", "-sk", "https://h2:8700/api/state").CombinedOutput(); err != nil || !strings.HasPrefix(string(out), "the token") {
		t.Errorf("without the token: %v %.80s", err, out)
	}
	began := s.Events[0]

	c.Fault(t, killLauncher)
	see("that another launcher leads", func() bool { return last(s, status.KindLauncher) != nil && !s.Old })
	if first := s.Events[0]; first.Number != began.Number || first.Kind != began.Kind || len(first.Set) != 8 {
		t.Errorf("it began with %+v, and now with %+v", began, first)
	}
	leads := d.lead("")
	dies := map[bool]string{true: "2", false: "3"}[leads == "3"]
	c.Fault(t, "power "+dies)
	see("that h"+dies+" is lost", func() bool { return last(s, status.KindHostLost) != nil && s.Totals.Deaths >= 2 && s.Totals.Live == 6 })
	for i := 1; i < len(s.Events); i++ {
		if s.Events[i].Number != s.Events[i-1].Number+1 || s.Events[i].At < s.Events[i-1].At {
			t.Errorf("event %+v follows %+v", s.Events[i], s.Events[i-1])
		}
	}
	g.open()
	if r := d.end(); r.ExitCode != 0 {
		t.Errorf("the report says %+v", r)
	}
	kinds := eventsIn(t, events)
	if !slices.Contains(kinds, status.KindLauncher) || !slices.Contains(kinds, status.KindHostLost) || kinds[0] != status.KindStart || kinds[len(kinds)-1] != status.KindEnd {
		t.Errorf("the file has %v", kinds)
	}
	c.Fault(t, "open")
	d.gone(leads)
}

// eventsIn are the kinds of the events in a file, whose numbers rise.
func eventsIn(t *testing.T, path string) (kinds []string) {
	t.Helper()
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	at := uint64(0)
	for lines := bufio.NewScanner(file); lines.Scan(); {
		var e status.Event
		if err := json.Unmarshal(lines.Bytes(), &e); err != nil || e.Number <= at {
			t.Errorf("event %d is followed by %q (%v)", at, lines.Text(), err)
		}
		at = e.Number
		kinds = append(kinds, e.Kind)
	}
	return kinds
}
