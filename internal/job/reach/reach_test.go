package reach

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/console"
)

// relayVariable has this program be the relay of the job on the socket that it names.
const relayVariable = "BANYAN_TEST_RELAY"

func TestMain(m *testing.M) {
	folder := os.Getenv(relayVariable)
	if folder == "" {
		os.Exit(m.Run())
	}
	fmt.Println("Welcome to this host!")
	wait, _ := time.ParseDuration(os.Args[3])
	err := Relay(os.Stdin, os.Stdout, wait, func() (net.Conn, string, error) {
		conn, err := console.Folder(folder).Dial(os.Args[4])
		return conn, os.Args[4], err
	})
	if err != nil {
		fmt.Fprintln(os.Stderr, "banyan:", err)
		os.Exit(1)
	}
}

// aJob is the socket of a job.
func aJob(t *testing.T) (folder string, hub *console.Hub) {
	t.Helper()
	dir, err := os.MkdirTemp("", "reach")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	hub = console.NewHub()
	s := console.NewServer(console.Info{Name: "job-1"}, hub)
	if err := console.Folder(dir).Listen(s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return dir, hub
}

// byEnv reaches hosts that are folders on this machine.
func byEnv(t *testing.T, hosts ...string) *console.Reach {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return &console.Reach{Words: []string{"env", relayVariable + "={host}", "{agent}"}, Self: self, Hosts: hosts}
}

// A console shows a job through a relay, to its end.
func TestDial(t *testing.T) {
	folder, hub := aJob(t)
	conn, name, err := Dial(t.Context(), byEnv(t), folder, "job-1", time.Second)
	if err != nil || name != "job-1" {
		t.Fatal(name, err)
	}
	var out strings.Builder
	c := console.Console{Stdout: &out, Stderr: io.Discard, Stdin: strings.NewReader("input")}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if o, err := c.Attach(conn); err != nil || o.Code != 3 {
			t.Errorf("%+v %v", o, err)
		}
	}()
	text := strings.Repeat("a line\n", 50_000)
	if err := hub.Screen(false).Print(0, false, 0, []byte(text)); err != nil {
		t.Error(err)
	}
	if b, err := io.ReadAll(hub.Stdin()); string(b) != "input" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	if !hub.End(3) {
		t.Error("the end wasn't shown")
	}
	<-ended
	if out.String() != text {
		t.Errorf("%d bytes of %d", out.Len(), len(text))
	}
}

// Of several hosts the one is found that has the job, though that comes late.
func TestFind(t *testing.T) {
	folder, _ := aJob(t)
	late := filepath.Join(filepath.Dir(folder), filepath.Base(folder)+"-late")
	time.AfterFunc(200*time.Millisecond, func() { os.Symlink(folder, late) })
	t.Cleanup(func() { os.Remove(late) })
	conn, err := Find(t.Context(), byEnv(t, "/nowhere", late), "job-1", 20*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	conn.Close()
}

func TestNotFound(t *testing.T) {
	if _, _, err := Dial(t.Context(), byEnv(t), "/nowhere", "job-1", 0); err == nil || !strings.Contains(err.Error(), "job job-1 doesn't run") {
		t.Error(err)
	}
	r := &console.Reach{Words: []string{"sh", "-c", "echo {host} is down >&2; exit 255 # {agent}"}, Self: "banyan", Hosts: []string{"h1"}}
	if _, err := Find(t.Context(), r, "job-1", 0); err == nil || !strings.Contains(err.Error(), "h1 is down") {
		t.Error(err)
	}
	r.Words = []string{"sh", "-c", "yes # {host} {agent}"}
	if _, err := Find(t.Context(), r, "job-1", 0); err == nil {
		t.Error("noise is a job")
	}
	// One that says nothing is given up, and its command ended.
	r.Words = []string{"sh", "-c", "sleep 1000 # {host} {agent}"}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, _, err := Dial(ctx, r, "h1", "job-1", time.Hour); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

// A relay whose console has gone doesn't look for the job any longer.
func TestRelayWithoutConsole(t *testing.T) {
	in, console := io.Pipe()
	none := errors.New("no such job")
	ended := make(chan error)
	looks := make(chan struct{}, 1)
	go func() {
		ended <- Relay(in, io.Discard, time.Hour, func() (net.Conn, string, error) {
			select {
			case looks <- struct{}{}:
			default:
			}
			return nil, "", none
		})
	}()
	for range 3 {
		<-looks // it goes on looking
	}
	console.Close()
	select {
	case err := <-ended:
		if err != none {
			t.Error(err)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("it goes on looking without a console")
	}
}
