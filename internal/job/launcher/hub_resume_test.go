package launcher

import (
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/console"
)

// A console that writes a file is attached to one launcher after the other, each with a hub of its
// own. The first ones are lost. The file has each rank's bytes once, and in order.
func TestResumeForConsole(t *testing.T) {
	t.Parallel()
	const n = 150
	r := newRelayed(t, 2)
	r.forgets = true // the screen is asked for nothing: the console says what it has
	path := filepath.Join(t.TempDir(), "out")
	file, err := console.OpenFile(path, "job-1")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	shower := console.Console{Stdout: io.Discard, Stderr: io.Discard, File: file}
	var hub *console.Hub
	var conn net.Conn
	attached := make(chan struct{})
	attach := func() {
		hub = console.NewHub()
		r.hub = hub
		hub.Screen(true) // labels are known when a console comes
		server := console.NewServer(console.Info{Name: "job-1"}, hub)
		t.Cleanup(server.Close)
		here, file, err := console.Pair()
		if err != nil {
			t.Fatal(err)
		}
		there, err := net.FileConn(file)
		if err != nil {
			t.Fatal(err)
		}
		file.Close()
		go server.Serve(there)
		conn, attached = here, make(chan struct{})
		go func() {
			defer close(attached)
			shower.Attach(here)
		}()
	}
	attach()
	r.run(Config{Ranks: 2, Replicas: 2, Places: layers(2, 2), Heal: true, Label: true}, "rounds", "150", "5ms")
	for _, size := range []int64{500, 2000, 4000} {
		for until := time.Now().Add(30 * time.Second); ; time.Sleep(time.Millisecond) {
			if info, err := os.Stat(path); err == nil && info.Size() >= size {
				break
			} else if time.Now().After(until) {
				t.Fatal("the file doesn't grow")
			}
		}
		r.loseLauncher()
		conn.Close()
		<-attached
		attach()
		r.resume()
	}
	report := r.end()
	if !hub.End(report.ExitCode) {
		t.Error("the console hasn't seen the end")
	}
	<-attached
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var got [2]strings.Builder
	for line := range strings.Lines(string(b)) {
		switch rank, text, ok := strings.Cut(line, " "); {
		case ok && rank == "[0]":
			got[0].WriteString(text)
		case ok && rank == "[1]":
			got[1].WriteString(text)
		default:
			t.Errorf("line %q", line)
		}
	}
	for rank := range got {
		if want := roundsOutput(2, rank, n); got[rank].String() != want {
			t.Errorf("rank %d: %d bytes, not %d: %.1000q", rank, got[rank].Len(), len(want), got[rank].String())
		}
	}
	if report.ExitCode != 0 {
		t.Errorf("exit code %d, %s", report.ExitCode, report.Reason)
	}
}
