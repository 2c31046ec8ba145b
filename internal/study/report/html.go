package report

import (
	_ "embed"
	"encoding/base64"
	"fmt"
	"html/template"
	"io"
	"strings"
	"sync"
)

//go:embed page.html
var pageText string

// page is parsed when it is needed: every command has this package, few write a report.
var page = sync.OnceValue(func() *template.Template { return template.Must(template.New("page").Parse(pageText)) })

// html writes the page. The pictures are SVG, by the figures' names.
func (r *Report) html(w io.Writer, pictures map[string][]byte) error {
	return page().Execute(w, struct {
		*Report
		Counts  string
		Picture func(name string) template.URL
	}{r, r.counts(), func(name string) template.URL {
		// Each picture is an image of its own: neither it nor the page can change the other.
		return template.URL("data:image/svg+xml;base64," + base64.StdEncoding.EncodeToString(pictures[name]))
	}})
}

// counts says how the claims came out.
func (r *Report) counts() string {
	var n [3]int
	for _, c := range r.Claims {
		n[c.Verdict]++
	}
	var parts []string
	for _, v := range []Verdict{Agrees, Differs, Open} {
		parts = append(parts, fmt.Sprintf("%d %s", n[v], [3]string{"agree", "differ", "open"}[v]))
	}
	return strings.Join(parts, ", ")
}
