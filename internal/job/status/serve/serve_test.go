package serve

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"crypto/tls"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/status"
	"banyan/internal/proto"
)

// observed is a hub of a job of two ranks that has begun.
func observed(name string) (*Hub, *status.Observation) {
	h := NewHub(name)
	h.Begin(status.Job{Command: []string{"./heat", "<b>&"}, Ranks: 2, Replicas: 1})
	o := &status.Observation{Hosts: []status.Host{{Name: "a", State: status.HostRuns}}, Slots: []status.Slot{{Rank: 0, State: status.Live}, {Rank: 1, State: status.Live}}}
	h.Observe(o)
	return h, o
}

// die has a process die, and the job end if over.
func die(h *Hub, o *status.Observation, at proto.Time, p int, over *status.Over) {
	next := *o
	next.At, next.Slots, next.Over = at, append([]status.Slot{}, o.Slots...), over
	next.Slots[p].State = status.Dead
	next.News = []status.Event{{At: float64(at) / 1e9, Kind: status.KindDeath, Process: &p, Cause: "signal", Text: "it died"}}
	if over != nil {
		next.News = append(next.News, status.Event{At: float64(at) / 1e9, Kind: status.KindEnd, Text: "it is over"})
	}
	h.Observe(&next)
	*o = next
}

func get(t *testing.T, c *http.Client, url string, header ...string) (int, string, http.Header) {
	t.Helper()
	q, err := http.NewRequest("GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		q.Header.Set(header[i], header[i+1])
	}
	r, err := c.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return r.StatusCode, string(body), r.Header
}

func listen(t *testing.T, h *Hub, address, token string) *Server {
	t.Helper()
	a, err := ParseAddress(address)
	if err != nil {
		t.Fatal(err)
	}
	s, err := Listen(h, a, token, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// Without the token nothing is answered.
func TestToken(t *testing.T) {
	h, _ := observed("x")
	s := listen(t, h, "127.0.0.1:0", "")
	for _, path := range []string{"", "api/state", "api/events", "metrics", "no/such", "?token=", "?token=" + strings.Repeat("0", 32)} {
		if code, body, _ := get(t, http.DefaultClient, s.Address()+path); code != http.StatusForbidden || strings.Contains(body, "heat") {
			t.Errorf("%q: %d %q", path, code, body)
		}
	}
	if code, _, _ := get(t, http.DefaultClient, s.URL()); code != http.StatusOK {
		t.Errorf("with the token: %d", code)
	}
	code, body, _ := get(t, http.DefaultClient, s.Address()+"api/state", "Authorization", "Bearer "+s.token)
	var state status.State
	if err := json.Unmarshal([]byte(body), &state); code != http.StatusOK || err != nil || state.Job.Name != "x" || len(state.Slots) != 2 {
		t.Errorf("%d %v %q", code, err, body)
	}
	if other := listen(t, h, "127.0.0.1:0", ""); other.token == s.token || len(s.token) != 32 {
		t.Errorf("tokens %q and %q", s.token, other.token)
	}
	if mine := listen(t, h, "127.0.0.1:0", "secret"); !strings.HasSuffix(mine.URL(), "?token=secret") {
		t.Errorf("the URL is %s", mine.URL())
	}
}

// Where no token is asked for, no page of elsewhere may read the job's: neither as another origin,
// nor by a name that leads here.
func TestWithoutToken(t *testing.T) {
	h, _ := observed("x")
	s := listen(t, h, "127.0.0.1:0", NoToken)
	code, _, header := get(t, http.DefaultClient, s.Address()+"api/state")
	if code != http.StatusOK || header.Get("Access-Control-Allow-Origin") != "" {
		t.Errorf("%d %v", code, header)
	}
	if _, _, header := get(t, http.DefaultClient, listen(t, h, "127.0.0.1:0", "").URL()); header.Get("Access-Control-Allow-Origin") != "*" {
		t.Errorf("with a token: %v", header)
	}
	for host, want := range map[string]int{
		"localhost": 200, "localhost:80": 200, "127.0.0.1:1": 200, "[::1]:1": 200, "[::1]": 200,
		"evil.example": 421, "evil.example:8080": 421, "192.0.2.1": 421, "localhost.evil.example": 421,
	} {
		q, err := http.NewRequest("GET", s.Address()+"api/state", nil)
		if err != nil {
			t.Fatal(err)
		}
		q.Host = host
		r, err := http.DefaultClient.Do(q)
		if err != nil {
			t.Fatal(err)
		}
		if r.Body.Close(); r.StatusCode != want {
			t.Errorf("as %s: %d, want %d", host, r.StatusCode, want)
		}
	}
}

// A client that comes before the job has begun is told to come again.
func TestBeforeTheJob(t *testing.T) {
	s := listen(t, NewHub("x"), "127.0.0.1:0", NoToken)
	if code, _, header := get(t, http.DefaultClient, s.Address()+"api/state"); code != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
		t.Errorf("%d %v", code, header)
	}
}

// The stream begins with the state, and goes on to the job's end.
func TestStream(t *testing.T) {
	h, o := observed("x")
	s := listen(t, h, "127.0.0.1:0", NoToken)
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	q, _ := http.NewRequestWithContext(ctx, "GET", s.Address()+"api/events", nil)
	r, err := http.DefaultClient.Do(q)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	var kinds []string
	lines := bufio.NewScanner(r.Body)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		kind, is := strings.CutPrefix(lines.Text(), "event: ")
		if !is {
			continue
		}
		if kinds = append(kinds, kind); kind == "state" {
			h.Sample(1e9, []status.Sample{{Process: 0, Stamp: 1, Counters: status.Counters{Sent: 7}}})
			die(h, o, 2e9, 1, nil)
			die(h, o, 3e9, 0, &status.Over{Outcome: "rank lost", ExitCode: 137})
		}
	}
	if got := strings.Join(kinds, " "); got != "state sample news news" {
		t.Errorf("the stream has %q (%v)", got, lines.Err())
	}
	if _, body, _ := get(t, http.DefaultClient, s.Address()+"api/state"); !strings.Contains(body, `"exit_code":137`) {
		t.Errorf("afterwards the state is %s", body)
	}
}

// A reader that doesn't read is cut off, and the launcher never waits for it.
func TestSlowReader(t *testing.T) {
	h, o := observed("x")
	r := h.subscribe(false)
	for i := range 2 * readerRoom {
		die(h, o, proto.Time(i)*1e9, 1, nil)
	}
	n := 0
	for range r.messages {
		n++
	}
	if n != readerRoom {
		t.Errorf("%d messages before it was cut off", n)
	}
	h.leave(r)
}

func TestAddresses(t *testing.T) {
	for text, want := range map[string]string{
		":8080": "tcp 127.0.0.1:8080 false", "127.0.0.1:1": "tcp 127.0.0.1:1 false", "[::1]:0": "tcp [::1]:0 false", "localhost:80": "tcp localhost:80 false",
		"0.0.0.0:80": "tcp 0.0.0.0:80 true", "host:80": "tcp host:80 true", "unix:/x/y": "unix /x/y false",
		"": "", "8080": "", ":": "", "host:": "", ":http2x": "", ":70000": "", "unix:": "", "a:b:c": "",
	} {
		a, err := ParseAddress(text)
		got := fmt.Sprint(a.network, " ", a.address, " ", a.secure)
		if (err != nil) != (want == "") || err == nil && got != want {
			t.Errorf("%q: %s, %v; want %q", text, got, err, want)
		}
	}
}

// A unix socket is its owner's, asks for no token, and takes the place of one that nobody answers.
func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	for range 2 {
		h, _ := observed("x")
		s := listen(t, h, "unix:"+path, "")
		info, err := os.Stat(path)
		if err != nil || info.Mode().Perm() != 0o600 {
			t.Errorf("%v %v", info, err)
		}
		c := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "unix", path)
		}}}
		if code, _, _ := get(t, c, "http://job/api/state"); code != http.StatusOK {
			t.Errorf("%d", code)
		}
		c.CloseIdleConnections()
		a, _ := ParseAddress("unix:" + path)
		if _, err := Listen(h, a, "", nil); err == nil || !strings.Contains(err.Error(), "already") {
			t.Errorf("a second one: %v", err)
		}
		s.Close()
		l, err := net.Listen("unix", path) // one that was killed leaves its socket
		if err != nil {
			t.Fatal(err)
		}
		l.(*net.UnixListener).SetUnlinkOnClose(false)
		l.Close()
	}
}

// Beyond loopback there is TLS, by the certificate whose fingerprint is told, and always a token.
func TestBeyondLoopback(t *testing.T) {
	h, _ := observed("x")
	a := Address{network: "tcp", address: "127.0.0.1:0", secure: true}
	if _, err := Listen(h, a, NoToken, nil); err == nil {
		t.Error("it does without a token")
	}
	s, err := Listen(h, a, "", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	print := ""
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true, VerifyConnection: func(c tls.ConnectionState) error {
		sum := sha256.Sum256(c.PeerCertificates[0].Raw)
		print = hex.EncodeToString(sum[:])
		return nil
	}}}}
	defer c.CloseIdleConnections()
	if code, _, _ := get(t, c, s.URL()); code != http.StatusOK || print != s.Fingerprint() || !strings.HasPrefix(s.URL(), "https://") {
		t.Errorf("%d, fingerprint %s, told %s, %s", code, print, s.Fingerprint(), s.URL())
	}
}

// The report is the page with the state in it, which nothing in the job's words can break.
func TestReport(t *testing.T) {
	h := NewHub("x")
	h.Begin(status.Job{Command: []string{"</script><script>alert(1)</script>", "/*SCRIPT*/"}, Ranks: 1})
	h.Observe(&status.Observation{Slots: []status.Slot{{State: status.Finished}}, Over: &status.Over{Outcome: "completed"}})
	var b bytes.Buffer
	if err := h.WriteReport(&b); err != nil {
		t.Fatal(err)
	}
	page := b.String()
	_, rest, _ := strings.Cut(page, `id="data">`)
	data, _, _ := strings.Cut(rest, "</script>")
	var s status.State
	if err := json.Unmarshal([]byte(data), &s); err != nil || s.Job.Command[0] != "</script><script>alert(1)</script>" {
		t.Errorf("%v: %.300s", err, data)
	}
	if strings.Count(page, "<script") != 2 || strings.Contains(page, "alert(1)</script>") {
		t.Error("the job's words are part of the page")
	}
	for _, far := range []string{"http://", "https://", "src=", "@import", "url("} {
		if at := strings.Index(strings.ReplaceAll(strings.ReplaceAll(page, "http://www.w3.org/", ""), "url(#", ""), far); at >= 0 {
			t.Errorf("the page loads something: %.60s", page[at:])
		}
	}
	b.Reset()
	if err := NewHub("never").WriteReport(&b); err != nil || !strings.Contains(b.String(), `"name":"never"`) {
		t.Errorf("of a job that never began: %v", err)
	}
}

// The page's own script is what its policy allows.
func TestPolicy(t *testing.T) {
	h, _ := observed("x")
	w := httptest.NewRecorder()
	(&Server{hub: h}).page(w, httptest.NewRequest("GET", "/", nil))
	if !strings.Contains(w.Header().Get("Content-Security-Policy"), "script-src 'sha256-") || !bytes.Contains(w.Body.Bytes(), scriptFile) {
		t.Error("the page or its policy lack the script")
	}
}

// Events are lines of JSON with what the guide says, and all are there at the end.
func TestRecord(t *testing.T) {
	var b bytes.Buffer
	h := NewHub("job-1")
	done := h.Record(&b)
	h.Begin(status.Job{Ranks: 2})
	o := &status.Observation{Slots: []status.Slot{{Rank: 0, State: status.Live}, {Rank: 1, State: status.Live}}}
	h.Observe(o)
	die(h, o, 1e9, 1, nil)
	die(h, o, 2e9, 0, &status.Over{Outcome: "rank lost"})
	<-done
	var kinds []string
	for line := range strings.Lines(b.String()) {
		var e struct {
			Time   time.Time
			Level  string
			Job    string
			Kind   string
			Number int
			At     float64 `json:"at_s"`
			Text   string
			Set    []status.Change
		}
		if err := json.Unmarshal([]byte(line), &e); err != nil || e.Job != "job-1" || e.Time.IsZero() || e.Number != len(kinds)+1 {
			t.Fatalf("%v: %s", err, line)
		}
		kinds = append(kinds, e.Level+" "+e.Kind)
	}
	if got := strings.Join(kinds, ", "); got != "INFO start, WARN death, WARN death, INFO end" {
		t.Error(got)
	}
}

// The command gets deaths and the end, one call for those that come together; what it says when it
// fails is told.
func TestCall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "calls")
	h, o := observed("job-1")
	done := h.Call("cat >> '"+path+"'; echo --- >> '"+path+"'", func(text string) { t.Error(text) })
	var told []string
	failed := h.Call("echo no pager >&2; exit 3", func(text string) { told = append(told, text) })
	die(h, o, 1e9, 1, nil)
	die(h, o, 2e9, 0, &status.Over{Outcome: "rank lost"})
	<-done
	<-failed
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	calls := strings.Split(strings.TrimSuffix(string(text), "---\n"), "---\n")
	if len(calls) != 2 || strings.Count(calls[0], "\n") != 1 || strings.Count(calls[1], "\n") != 2 || !strings.Contains(calls[1], `"kind":"end"`) {
		t.Errorf("calls %q", calls)
	}
	if len(told) != 2 || !strings.Contains(told[0], "no pager") || !strings.Contains(told[0], "exit status 3") {
		t.Errorf("told %q", told)
	}
}
