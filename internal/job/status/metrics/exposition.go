package metrics

import (
	"cmp"
	"io"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// A kind is a metric's type, as the exposition names it.
type kind string

const (
	gauge   kind = "gauge"
	counter kind = "counter"
)

// A description is what all series of a metric share.
type description struct {
	name, help string
	kind       kind
	labels     []string // without job_name
}

// A family is a metric's series as they are written, one a line.
type family struct {
	about *description
	lines []string
}

// An exposition is the text that Prometheus reads: its text format, version 0.0.4
// (https://prometheus.io/docs/instrumenting/exposition_formats/).
type exposition struct {
	job      string
	families map[string]*family
}

// put adds a series. There is a value for each label of the description.
func (e *exposition) put(d *description, value float64, labels ...string) {
	if len(labels) != len(d.labels) {
		panic("metrics: " + d.name + " has other labels")
	}
	f := e.families[d.name]
	if f == nil {
		f = &family{about: d}
		e.families[d.name] = f
	}
	type pair struct{ name, value string }
	pairs := []pair{{"job_name", e.job}}
	for i, name := range d.labels {
		pairs = append(pairs, pair{name, labels[i]})
	}
	slices.SortFunc(pairs, func(a, b pair) int { return cmp.Compare(a.name, b.name) })
	var line strings.Builder
	line.WriteString(d.name)
	for i, p := range pairs {
		line.WriteByte("{,"[min(i, 1)])
		line.WriteString(p.name + `="` + escapeLabel.Replace(strings.ToValidUTF8(p.value, "\uFFFD")) + `"`)
	}
	line.WriteString("} " + strconv.FormatFloat(value, 'g', -1, 64))
	f.lines = append(f.lines, line.String())
}

var (
	escapeHelp  = strings.NewReplacer(`\`, `\\`, "\n", `\n`)
	escapeLabel = strings.NewReplacer(`\`, `\\`, "\n", `\n`, `"`, `\"`)
)

// text is the exposition, metrics and series in the order of their names.
func (e *exposition) text() string {
	var text strings.Builder
	for _, name := range slices.Sorted(maps.Keys(e.families)) {
		f := e.families[name]
		text.WriteString("# HELP " + name + " " + escapeHelp.Replace(f.about.help) + "\n")
		text.WriteString("# TYPE " + name + " " + string(f.about.kind) + "\n")
		slices.Sort(f.lines)
		for _, line := range f.lines {
			text.WriteString(line + "\n")
		}
	}
	return text.String()
}

// contentType names the format.
const contentType = "text/plain; version=0.0.4; charset=utf-8"

// Handler answers /metrics.
func Handler(from Source) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		e := exposition{families: map[string]*family{}}
		if s, ok := from(); ok {
			e.job = s.Job.Name
			e.collect(&s)
		}
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, e.text()) // an error: nobody listens any more
	})
}
