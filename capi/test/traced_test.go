package test

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"banyan/internal/proto"
	"banyan/internal/testing/cprogram"
	"banyan/internal/trace"
)

// A trace of the next second has the messages that C otherwise sends and receives without Go, from
// both ranks. The program, which checks each message, notices nothing, and C goes on afterwards.
func TestTraceOfLane(t *testing.T) {
	program, work := cprogram.Compile(t, "traced"), t.TempDir()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	socket, stop := filepath.Join(work, "page"), filepath.Join(work, "stop")
	cmd := exec.CommandContext(ctx, cprogram.Tool("banyan"), "run", "-n", "2", "--status", "unix:"+socket, "--status-control", program, stop)
	var messages bytes.Buffer
	cmd.Dir, cmd.Stderr = work, &messages
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	page := http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "unix", socket)
	}}}
	await := func(what string, is func() bool) {
		t.Helper()
		for !is() {
			if time.Sleep(20 * time.Millisecond); ctx.Err() != nil {
				t.Fatalf("%s: stderr %s", what, messages.String())
			}
		}
	}
	await("the request", func() bool {
		r, err := page.Post("http://page/api/control", "application/json", strings.NewReader(`{"action":"trace"}`))
		if err != nil {
			return false // it doesn't listen yet
		}
		r.Body.Close()
		return r.StatusCode == http.StatusOK
	})
	path := filepath.Join(work, "traced-trace-1.jsonl")
	await("the trace", func() bool { info, err := os.Stat(path); return err == nil && info.Size() > 0 })
	time.Sleep(200 * time.Millisecond) // C has the messages again
	if err := os.WriteFile(stop, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		t.Fatalf("%v, stderr %s", err, messages.String())
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	type key struct {
		proc  proto.Proc
		event string
	}
	count := make(map[key]int)
	if _, err := trace.Read(bytes.NewReader(text), func(e trace.Event) error {
		if e.Kind == "eager" {
			count[key{e.Proc, e.Event}]++
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	for _, k := range []key{{0, trace.Send}, {0, trace.Receive}, {1, trace.Send}, {1, trace.Receive}} {
		if count[k] < 100 {
			t.Errorf("process %d: %d of %s", k.proc, count[k], k.event)
		}
	}
}
