package serve

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/job/status"
)

// A trace that was asked for can be had from the launcher's page, for Perfetto and as it was
// recorded. Other numbers, a file that is gone, and the page of a launcher that has taken over give
// none; nor does anything without the token.
func TestTrace(t *testing.T) {
	h, o := observed("x")
	s := listen(t, h, "127.0.0.1:0", "secret")
	path := filepath.Join(t.TempDir(), "x-trace-1.jsonl")
	recorded := `{"banyan":"trace","version":1,"driver":"real","procs":2,"unit":"ns"}
{"t":1000,"proc":0,"event":"send","peer":1,"kind":"eager"}
{"t":9000,"proc":1,"event":"receive","peer":0,"kind":"eager"}
`
	if err := os.WriteFile(path, []byte(recorded), 0o600); err != nil {
		t.Fatal(err)
	}
	next := *o
	next.News = []status.Event{{Kind: status.KindTrace, Text: "a trace", File: path}, {Kind: status.KindTrace, Text: "it couldn't be taken"},
		{Kind: status.KindWarning, Text: "no trace", File: "/etc/passwd"}}
	h.Observe(&next)
	url := s.Address() + "api/trace?token=secret&number="
	code, body, header := get(t, http.DefaultClient, url+"2")
	var shown struct{ TraceEvents []map[string]any }
	if err := json.Unmarshal([]byte(body), &shown); code != 200 || err != nil || len(shown.TraceEvents) < 4 || header.Get("Content-Type") != "application/json" {
		t.Errorf("%d, %v, %d events: %.200s", code, err, len(shown.TraceEvents), body)
	}
	if code, body, _ := get(t, http.DefaultClient, url+"2&format=jsonl"); code != 200 || body != recorded {
		t.Errorf("as recorded: %d %q", code, body)
	}
	for _, number := range []string{"", "0", "1", "3", "4", "9", "-1", "x"} {
		if code, body, _ := get(t, http.DefaultClient, url+number); code != 404 || strings.Contains(body, "root:") {
			t.Errorf("number %q: %d %.100q", number, code, body)
		}
	}
	if code, _, _ := get(t, http.DefaultClient, s.Address()+"api/trace?number=2"); code != http.StatusForbidden {
		t.Errorf("without the token: %d", code)
	}
	if _, is := eventsOf(t, h); !is {
		t.Error("the file isn't recorded in --events")
	}
	other := NewHub("x")
	if err := other.Continue(h.state()); err != nil {
		t.Fatal(err)
	}
	other.Begin(status.Job{Ranks: 2, Replicas: 1})
	if got := other.traceFile(2); got != "" {
		t.Errorf("the next launcher has %q", got)
	}
	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	if code, _, _ := get(t, http.DefaultClient, url+"2"); code != 404 {
		t.Errorf("a file that is gone: %d", code)
	}
}

// eventsOf says whether a trace's event as --events has it names its file.
func eventsOf(t *testing.T, h *Hub) (file string, is bool) {
	t.Helper()
	for _, e := range h.tracker.State().Events {
		for _, a := range attributes("x", &e) {
			if e.Kind == status.KindTrace && a.Key == "file" {
				return a.Value.String(), a.Value.String() == e.File
			}
		}
	}
	return "", false
}
