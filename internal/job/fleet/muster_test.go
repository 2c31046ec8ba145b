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
// come again.
func gather(t *testing.T, list string, spares, least int, order ...string) (up string, notes []string, err error) {
	l, err := hosts.ParseList(list)
	if err != nil {
		t.Fatal(err)
	}
	m := &muster{Config: Config{Hosts: l, Min: least, Note: func(text string) { notes = append(notes, text) }}, ask: make(chan news), over: make(chan struct{})}
	m.Job.Hosts = describe(l, spares)
	for i := range l {
		m.all = append(m.all, &candidate{Host: l[i], place: i, spare: m.Job.Hosts[i].Spare})
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	go func() {
		for _, name := range order {
			name, fails := strings.CutPrefix(name, "-")
			name, gone := strings.CutPrefix(name, "~")
			n := news{of: m.all[l.Index(name)], gone: gone}
			if n.agent = (fake{}); fails {
				n.agent, n.why = nil, errors.New("no route")
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
		"one doesn't":              {"a,b", 0, 0, "a -b", "a", "", "1 of 2 hosts have come up; not b: b: no route"},
		"a spare one waits":        {"a,b,c", 1, 0, "c b a", "abc?", "", ""},
		"a spare one steps in":     {"a,b,c", 1, 0, "c a -b", "ac", "b hasn't come up (no route): c takes its place", ""},
		"it steps in later":        {"a,b,c", 1, 0, "a -b c", "ac", "b hasn't come up (no route): c takes its place", ""},
		"the one that is up":       {"a,b,c,d", 2, 0, "a d -b c", "ac?d", "d takes its place", ""},
		"spare ones fail":          {"a,b,c", 1, 0, "a -c b", "ab", "the spare host c hasn't come up: no route", ""},
		"both fail":                {"a,b,c", 1, 0, "a -b -c", "a", "c takes its place", "not b, c"},
		"enough":                   {"a,b,c", 0, 2, "a -b c", "ac", "b hasn't come up: no route", ""},
		"not enough":               {"a,b,c", 0, 2, "a -b -c", "a", "b hasn't come up", "1 of 2"},
		"one that comes and fails": {"a,b", 0, 0, "a -a b", "b", "", "not a"},
		"one that comes again":     {"a,b", 0, 0, "a ~a b a", "ab", "", ""},
		"one that doesn't":         {"a,b", 0, 0, "a ~a b -a", "b", "", "not a"},
	} {
		t.Run(name, func(t *testing.T) {
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
