package group

import (
	"cmp"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Metric is one number about a group as a member sees it, named as Prometheus names such things.
type Metric struct {
	Name    string // such as "banyan_group_members"
	Help    string // a sentence
	Counter bool   // it never falls while the member lives; else it may go up and down
	Labels  []Label
	Value   float64
}

// Label tells metrics of one name apart.
type Label struct{ Name, Value string }

// Metered is what has metrics: a Member. What shows metrics needs no more of it: [WriteMetrics], or
// a program's own collector for the library that it has. The group itself brings none.
type Metered interface{ Metrics() []Metric }

var _ Metered = (*Member)(nil)

// Metrics are what operators watch of a group, by this member's account: the view in force, how old
// it is, how many members have joined, left and died in the views that this member has had, whether
// it has ended. All have the labels group and member, none one of another member: their number
// doesn't grow with the group.
func (m *Member) Metrics() []Metric {
	card := m.node.Card()
	all := m.tally.metrics(time.Now())
	labels := []Label{{"group", m.tally.group}, {"member", card.Name}}
	for i := range all {
		all[i].Labels = append(slices.Clip(labels), all[i].Labels...)
	}
	return all
}

// tally is what a member has counted.
type tally struct {
	group string

	mu                     sync.Mutex
	last                   View
	at                     time.Time // when it was installed
	views                  int
	joined, left           int
	silent, ended, members int
	over                   bool
}

// installed counts a view.
func (t *tally) installed(v *View) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.last, t.at = *v, time.Now()
	t.views++
	t.members = len(v.Members)
	t.joined += len(v.Joined)
	t.left += len(v.Left)
	for _, d := range v.Died {
		if d.Cause == Ended {
			t.ended++
		} else {
			t.silent++
		}
	}
}

// end notes the member's end.
func (t *tally) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
}

func (t *tally) metrics(now time.Time) []Metric {
	t.mu.Lock()
	defer t.mu.Unlock()
	age, in := 0.0, 1.0
	if !t.at.IsZero() {
		age = now.Sub(t.at).Seconds()
	}
	if t.over {
		in = 0
	}
	gauge := func(name, help string, value float64) Metric {
		return Metric{Name: "banyan_group_" + name, Help: help, Value: value}
	}
	count := func(name, help string, value int, labels ...Label) Metric {
		return Metric{Name: "banyan_group_" + name, Help: help, Counter: true, Value: float64(value), Labels: labels}
	}
	const died = "Members that have died in this member's views, by how that became known."
	return []Metric{
		gauge("member", "Whether this process is a member: 0 after its end.", in),
		gauge("members", "Members of the view in force here.", float64(t.members)),
		gauge("view_number", "Number of the view in force here; it begins at 1 with each founding.", float64(t.last.Number)),
		gauge("view_age_seconds", "How long it has been in force here.", age),
		count("views_total", "Views that this member has had.", t.views),
		count("joined_total", "Members that have joined in its views, itself included.", t.joined),
		count("left_total", "Members that have left in its views.", t.left),
		count("died_total", died, t.silent, Label{"cause", Silent.String()}),
		count("died_total", died, t.ended, Label{"cause", Ended.String()}),
	}
}

// WriteMetrics writes what members have counted as the text that Prometheus reads: for an HTTP
// handler at /metrics, of the type "text/plain; version=0.0.4".
func WriteMetrics(w io.Writer, members ...Metered) error {
	var all []Metric
	for _, m := range members {
		all = append(all, m.Metrics()...)
	}
	slices.SortStableFunc(all, func(a, b Metric) int { return cmp.Compare(a.Name, b.Name) }) // a name stands together
	var text strings.Builder
	for i, x := range all {
		if i == 0 || all[i-1].Name != x.Name {
			kind := "gauge"
			if x.Counter {
				kind = "counter"
			}
			fmt.Fprintf(&text, "# HELP %s %s\n# TYPE %s %s\n", x.Name, escaped(x.Help, false), x.Name, kind)
		}
		text.WriteString(x.Name)
		for k, l := range x.Labels {
			text.WriteString([]string{"{", ","}[min(k, 1)])
			fmt.Fprintf(&text, `%s="%s"`, l.Name, escaped(l.Value, true))
		}
		if len(x.Labels) > 0 {
			text.WriteString("}")
		}
		text.WriteString(" " + strconv.FormatFloat(x.Value, 'g', -1, 64) + "\n")
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// escaped is a text as it stands in the format.
func escaped(s string, quoted bool) string {
	s = strings.ReplaceAll(strings.ReplaceAll(s, `\`, `\\`), "\n", `\n`)
	if quoted {
		s = strings.ReplaceAll(s, `"`, `\"`)
	}
	return s
}
