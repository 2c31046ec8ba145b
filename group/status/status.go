// Package status is a page of a group's member, for people and for monitoring.
//
//	http.Handle("/group/", http.StripPrefix("/group", status.Handler(m)))
//
// It is a package of its own, so that programs without the page don't link net/http.
package status

import (
	"encoding/json"
	"fmt"
	"html/template"
	"net/http"
	"time"

	"banyan/group"
)

// Handler serves what a member knows of its group: a page for people at /, the same as JSON at
// /json, and figures in the text format of Prometheus at /metrics. After the member's end, all
// three answer with status 503, and the page with the reason. The handler asks for no password,
// and shows names and addresses: serve it where only the right people can reach it.
func Handler(m *group.Member) http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(w http.ResponseWriter, _ *http.Request) {
		s := see(w, m, "text/html; charset=utf-8")
		page.Execute(w, s)
	})
	mux.HandleFunc("GET /json", func(w http.ResponseWriter, _ *http.Request) {
		s := see(w, m, "application/json")
		out := json.NewEncoder(w)
		out.SetIndent("", "\t")
		out.Encode(s)
	})
	mux.HandleFunc("GET /metrics", func(w http.ResponseWriter, _ *http.Request) {
		s := see(w, m, "text/plain; version=0.0.4; charset=utf-8")
		if s.End == "" {
			group.WriteMetrics(w, m)
		}
	})
	return mux
}

// state is what the page shows.
type state struct {
	Self   group.Identity
	End    string `json:",omitempty"` // why the member has ended
	Health group.Health
}

// see looks at the member, and begins the answer.
func see(w http.ResponseWriter, m *group.Member, kind string) *state {
	h, ok := m.Health()
	s := &state{Self: m.Self(), Health: h}
	w.Header().Set("Content-Type", kind)
	w.Header().Set("Cache-Control", "no-store")
	if !ok {
		s.End = fmt.Sprint(m.Err())
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	return s
}

var page = template.Must(template.New("group").Funcs(template.FuncMap{
	"round": func(d time.Duration) string {
		if d == 0 {
			return "–"
		}
		return d.Round(10 * time.Microsecond).String()
	},
}).Parse(`<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{{.Self}}: group {{.Health.View.Group}}</title>
<style>body{font-family:sans-serif;margin:2em}td,th{padding:.2em .8em;text-align:left}.bad{color:#b00}</style></head><body>
<h1>{{.Self}} of group “{{.Health.View.Group}}”</h1>
{{with .End}}<p class="bad">Not a member any more: {{.}}</p>{{end}}
{{with .Health}}<p>View {{.View.Number}}, token {{.View.Token}}, founding {{.View.Founding}}.
{{if .Changing}}The next view is under way.{{end}}
{{if .DiskBusy}}<span class="bad">The disk has been busy for {{round .DiskBusy}}.</span>{{end}}</p>
<p>{{.Heartbeats}} heartbeats came, {{.Late}} of them late. {{.FramesSent}} frames sent, {{.FramesReceived}} received.</p>
<p>Members, by seniority:</p><ol>{{range .View.Members}}<li>{{.}} at {{.Address}}{{with $.Health.View.MetadataOf .Name}}: {{.}}{{end}}</li>{{end}}</ol>
<table><tr><th>other member</th><th>connected</th><th>round trip</th><th>last heartbeat</th><th>longest gap</th><th>late</th><th>suspicion</th></tr>
{{range .Others}}<tr{{if .Suspicion}} class="bad"{{end}}><td>{{.Identity}}</td><td>{{.Connected}}</td><td>{{round .RoundTrip}}</td>
<td>{{round .SinceHeartbeat}}</td><td>{{round .LongestGap}}</td><td>{{.Late}}</td><td>{{.Suspicion}}</td></tr>
{{end}}</table>{{end}}
</body></html>
`))
