package serve

import (
	"errors"
	"net/http"
	"strings"
	"testing"

	"banyan/internal/job/status"
)

// post posts a request.
func post(t *testing.T, url, body string) int {
	t.Helper()
	r, err := http.Post(url, "text/plain", strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Body.Close()
	return r.StatusCode
}

// A request is refused without the token, without --status-control, and if it makes no sense; else
// the launcher has its say.
func TestControl(t *testing.T) {
	h, _ := observed("x")
	s := listen(t, h, "127.0.0.1:0", "secret")
	url, good := s.Address()+"api/control?token=secret", `{"action":"kill","process":1}`
	called := 0
	h.Operator(func(q status.Request) (string, error) {
		if called++; q != (status.Request{Action: status.Kill, Process: 1, Host: -1}) {
			return "", errors.New("no")
		}
		return "it is killed", nil
	})
	if code := post(t, url, good); code != http.StatusForbidden || called != 0 {
		t.Errorf("a page that only shows: %d", code)
	}
	h.AllowControl()
	for text, want := range map[string]int{good: 200, `{"action":"kill"}`: 409, `{`: 400, `{"action":"kill","force":true}`: 400, `"` + strings.Repeat("x", 2*longestRequest): 400} {
		if code := post(t, url, text); code != want {
			t.Errorf("%.40s: %d, want %d", text, code, want)
		}
	}
	if called != 2 {
		t.Errorf("the launcher was asked %d times", called)
	}
	for _, bad := range []string{"api/control", "api/control?token=wrong"} {
		if code := post(t, s.Address()+bad, good); code != http.StatusForbidden {
			t.Errorf("%s: %d", bad, code)
		}
	}
	if code, _, _ := get(t, http.DefaultClient, url); code != http.StatusMethodNotAllowed || called != 2 {
		t.Errorf("GET: %d", code)
	}
}

// Another host's page asks the launcher's, which may refuse; its answer is that of the launcher.
func TestControlElsewhere(t *testing.T) {
	h, o := observed("x")
	h.Operator(func(q status.Request) (string, error) { return q.Action, nil })
	other := NewHub("")
	other.AllowControl()
	ask := Operate(func(request []byte) ([]byte, error) { return h.OperateFor(request), nil })
	if _, err := other.Operate(status.Request{}); err == nil {
		t.Error("nobody can be asked")
	}
	other.Operator(ask)
	if _, err := other.Operate(status.Request{Action: status.Heal}); err == nil || err.Error() != errOnlyShows.Error() {
		t.Errorf("the launcher's page only shows: %v", err)
	}
	h.AllowControl()
	if said, err := other.Operate(status.Request{Action: status.Heal}); said != "heal" || err != nil {
		t.Errorf("%q %v", said, err)
	}
	if _, err := Operate(func([]byte) ([]byte, error) { return nil, errors.New("silent") })(status.Request{}); err == nil {
		t.Error("a launcher that doesn't answer has done it")
	}
	if _, err := Operate(func([]byte) ([]byte, error) { return []byte("{"), nil })(status.Request{}); err == nil {
		t.Error("an answer that is cut off")
	}
	die(h, o, 1e9, 1, &status.Over{})
	if _, err := h.Operate(status.Request{Action: status.Heal}); err == nil {
		t.Error("the job has ended")
	}
}
