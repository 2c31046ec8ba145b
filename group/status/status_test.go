package status

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"banyan/group"
)

// The three forms show the member and its view, with names as text, and its end with status 503.
func TestHandler(t *testing.T) {
	secret := []byte("a secret of the test")
	m, err := group.Join(t.Context(), group.Config{Group: "shards", Name: `<anna> "1"`, Secret: secret, Metadata: "a<b"})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	other, err := group.Join(t.Context(), group.Config{Group: "shards", Name: `<b> "1"`, Secret: secret, Seeds: []string{m.Self().Address}})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	for v := range m.Views() {
		if len(v.Members) == 2 {
			break
		}
	}
	server := httptest.NewServer(http.StripPrefix("/group", Handler(m)))
	defer server.Close()
	get := func(path string, want int) string {
		t.Helper()
		r, err := http.Get(server.URL + "/group" + path)
		if err != nil {
			t.Fatal(err)
		}
		defer r.Body.Close()
		b, err := io.ReadAll(r.Body)
		if err != nil || r.StatusCode != want {
			t.Errorf("%s: %s, %v", path, r.Status, err)
		}
		return string(b)
	}
	if page := get("/", 200); !strings.Contains(page, "&lt;b&gt; &#34;1&#34;.2") || strings.Contains(page, "<anna>") || !strings.Contains(page, ": a&lt;b</li>") || !strings.HasSuffix(page, "</html>\n") {
		t.Errorf("the page: %s", page)
	}
	var s state
	if err := json.Unmarshal([]byte(get("/json", 200)), &s); err != nil || s.Self != m.Self() || len(s.Health.Others) != 1 || s.Health.View.Metadata[0].Text != "a<b" {
		t.Errorf("%+v, %v", s, err)
	}
	metrics := get("/metrics", 200)
	for _, want := range []string{"# TYPE banyan_group_members gauge\n", `banyan_group_suspected{group="shards",member="<anna> \"1\""} 0` + "\n"} {
		if !strings.Contains(metrics, want) {
			t.Errorf("no %q in %s", want, metrics)
		}
	}
	get("/other", 404)
	m.Close()
	if page := get("/", 503); !strings.Contains(page, "Not a member any more: closed") {
		t.Errorf("after the end: %s", page)
	}
	if list := get("/metrics", 503); list != "" {
		t.Errorf("figures after the end: %s", list)
	}
}
