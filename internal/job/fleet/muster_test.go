package fleet

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/agent"
	"banyan/internal/job/hosts"
)

// fake is an agent that does nothing.
type fake struct{ agent.Agent }

// gather lets hosts come up or not, in an order: "a" comes up, "-a" doesn't, "~a" is lost and may
// come again, "?a" is in trouble and is tried again.
func gather(t *testing.T, list string, spares, least int, order ...string) (up string, notes []string, err error) {
	return gatherWithin(t, time.Minute, list, spares, least, order...)
}

// gatherWithin is gather for so long at most.
func gatherWithin(t *testing.T, limit time.Duration, list string, spares, least int, order ...string) (up string, notes []string, err error) {
	l, err := hosts.ParseList(list)
	if err != nil {
		t.Fatal(err)
	}
	m := &muster{Config: Config{Hosts: l, Min: least, Note: func(text string) { notes = append(notes, text) }}, ask: make(chan news), over: make(chan struct{}), begun: time.Now()}
	m.Job.Hosts = describe(l, spares)
	for i := range l {
		m.all = append(m.all, &candidate{Host: l[i], place: i, spare: m.Job.Hosts[i].Spare})
	}
	ctx, cancel := context.WithTimeout(t.Context(), limit)
	defer cancel()
	go func() {
		for _, name := range order {
			n := news{of: m.all[l.Index(strings.TrimLeft(name, "-~?"))], gone: name[0] == '~'}
			if n.agent = (fake{}); name[0] == '-' || name[0] == '?' {
				n.agent, n.why, n.again = nil, errors.New("no route"), name[0] == '?'
			}
			m.tell(ctx, n)
		}
	}()
	err = m.wait(ctx)
	for _, h := range m.all {
		if h.agent != nil {
			up += h.Name
			if h.spare {
				up += "?"
			}
		}
	}
	return up, notes, err
}

func TestMuster(t *testing.T) {
	for name, tc := range map[string]struct {
		list          string
		spares, least int
		order         string
		up, note, err string
	}{
		"all":                      {"a,b", 0, 0, "a b", "ab", "", ""},
		"one doesn't":              {"a,b", 0, 0, "a -b", "a", "", "1 of 2 hosts have come up; missing: b (no route)"},
		"a spare one waits":        {"a,b,c", 1, 0, "c b a", "abc?", "", ""},
		"a spare one steps in":     {"a,b,c", 1, 0, "c a -b", "ac", "b hasn't come up (no route): c takes its place", ""},
		"it steps in later":        {"a,b,c", 1, 0, "a -b c", "ac", "b hasn't come up (no route): c takes its place", ""},
		"the one that is up":       {"a,b,c,d", 2, 0, "a d -b c", "ac?d", "d takes its place", ""},
		"spare ones fail":          {"a,b,c", 1, 0, "a -c b", "ab", "the spare host c hasn't come up: no route", ""},
		"both fail":                {"a,b,c", 1, 0, "a -b -c", "a", "c takes its place", "missing: b (no route), c (no route)"},
		"enough":                   {"a,b,c", 0, 2, "a -b c", "ac", "b hasn't come up: no route", ""},
		"not enough":               {"a,b,c", 0, 2, "a -b -c", "a", "b hasn't come up", "1 of 2"},
		"one that comes and fails": {"a,b", 0, 0, "a -a b", "b", "", "missing: a (no route)"},
		"one that comes again":     {"a,b", 0, 0, "a ~a b a", "ab", "", ""},
		"one that doesn't":         {"a,b", 0, 0, "a ~a b -a", "b", "", "missing: a (no route)"},

		"trouble, and no spare one": {"a,b", 0, 0, "?b a b", "ab", "", ""},
		"trouble, and one is up":    {"a,b,c", 1, 0, "c ?b a", "ac", "b hasn't come up (no route): c takes its place", ""},
		"one comes later":           {"a,b,c", 1, 0, "?b a c", "ac", "b hasn't come up (no route): c takes its place", ""},
		"trouble passes":            {"a,b,c", 1, 0, "?b b a c", "abc?", "", ""},
		"it passes too late":        {"a,b,c", 1, 0, "?b c b a", "ab?c", "c takes its place", ""},
		"trouble of a spare one":    {"a,b,c", 1, 0, "?c a b c", "abc?", "", ""},
		"trouble of both":           {"a,b,c", 1, 0, "?b ?c a -c b", "ab", "the spare host c hasn't come up", ""},
		"nothing is heard of one":   {"a,b,c", 1, 0, "a c", "ac", "b hasn't come up (it takes longer than the others): c takes its place", ""},
		"nor of a spare one":        {"a,b,c", 1, 0, "a b", "ab", "the spare host c hasn't come up: it takes longer than the others", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			up, notes, err := gather(t, tc.list, tc.spares, tc.least, strings.Fields(tc.order)...)
			said := ""
			if err != nil {
				said = err.Error()
			}
			if up != tc.up || !strings.Contains(strings.Join(notes, "|"), tc.note) || (said == "") != (tc.err == "") || !strings.Contains(said, tc.err) {
				t.Errorf("%s, %q, %v", up, notes, err)
			}
		})
	}
}

// Hosts that no process needs aren't asked to come up, unless they may have to do for others.
func TestCandidates(t *testing.T) {
	l, err := hosts.ParseList("a:2,b:2,c:2,d:2")
	if err != nil {
		t.Fatal(err)
	}
	for want, c := range map[string]Config{
		"ab d":  {},
		"abc d": {Min: 2},
		"abcd":  {All: true},
	} {
		c.Hosts, c.Job.Hosts = l, describe(l, strings.Count(want, " "))
		got := ""
		for _, h := range candidates(&c, []int{0, 0, 1, 1}) {
			if h.spare {
				got += " "
			}
			got += h.Name
		}
		if got != want {
			t.Errorf("%q come up, want %q", got, want)
		}
	}
}

// A host of which nothing is heard is named when the time is over.
func TestMusterInTime(t *testing.T) {
	t.Parallel()
	up, _, err := gatherWithin(t, 100*time.Millisecond, "a,b", 0, 0, "a")
	if up != "a" || err == nil || !strings.Contains(err.Error(), "b (it hasn't come up in time)") {
		t.Errorf("%s, %v", up, err)
	}
}
