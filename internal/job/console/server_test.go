package console

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// aFolder makes a folder for a test, whose path is short enough for sockets.
func aFolder(t *testing.T) Folder {
	t.Helper()
	dir, err := os.MkdirTemp("", "console")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	t.Setenv("XDG_RUNTIME_DIR", dir)
	t.Setenv("TMPDIR", dir) // Find looks there, too, and other packages' tests run jobs
	f, err := MakeFolder()
	if err != nil {
		t.Fatal(err)
	}
	if filepath.Dir(string(f)) != dir {
		t.Fatalf("the folder is %s, not in %s", f, dir)
	}
	return f
}

// aServer listens in a folder.
func aServer(t *testing.T, f Folder, hub *Hub) *Server {
	t.Helper()
	s := NewServer(Info{Name: NewName("./program"), Command: []string{"./program"}, PID: os.Getpid(), Begun: time.Now()}, hub)
	if err := f.Listen(s); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

func TestRequests(t *testing.T) {
	f := aFolder(t)
	s := aServer(t, f, nil)
	type sum struct{ A, B int }
	Handle(s, "sum", func(_ context.Context, q sum, tell func(string)) (int, error) {
		tell("adding")
		if q.A < 0 {
			return 0, errors.New("that is negative")
		}
		return q.A + q.B, nil
	})
	dial := func() net.Conn {
		t.Helper()
		in, name, err := Find("program")
		if err != nil || name != s.Info().Name {
			t.Fatal(name, err)
		}
		conn, err := in.Dial(name)
		if err != nil {
			t.Fatal(err)
		}
		return conn
	}
	ctx := context.Background()
	var told []string
	if n, err := Ask[int](ctx, dial(), "sum", sum{3, 4}, func(s string) { told = append(told, s) }); n != 7 || err != nil || len(told) != 1 {
		t.Error(n, err, told)
	}
	var refused *RequestError
	for _, c := range []struct {
		name string
		q    any
		want string
	}{
		{"sum", sum{-1, 0}, "that is negative"}, {"sum", "text", "can't be read"}, {"nonsense", sum{}, `doesn't know the request "nonsense"`},
	} {
		if _, err := Ask[int](ctx, dial(), c.name, c.q, nil); !errors.As(err, &refused) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v", c.name, err)
		}
	}
	s.Update(func(i *Info) { i.State, i.Processes = Running, 8 })
	if all := list(ctx, []Folder{f}); len(all) != 1 || all[0].Processes != 8 || all[0].State != Running || !all[0].Own {
		t.Errorf("%+v", all)
	}
	s.Close()
	if all := list(ctx, []Folder{f}); len(all) != 0 {
		t.Errorf("after the end: %+v", all)
	}
}

// A request ends with its caller's patience, and the function that answers it hears of that.
func TestRequestGivenUp(t *testing.T) {
	f := aFolder(t)
	s := aServer(t, f, nil)
	ended := make(chan struct{})
	Handle(s, "long", func(ctx context.Context, _ struct{}, _ func(string)) (int, error) {
		<-ctx.Done()
		close(ended)
		return 0, ctx.Err()
	})
	conn, err := f.Dial(s.Info().Name)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	if _, err := Ask[int](ctx, conn, "long", struct{}{}, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	select {
	case <-ended:
	case <-time.After(20 * time.Second):
		t.Fatal("it goes on")
	}
}

// A connection that sends nonsense is closed, and no other one is the worse for it.
func TestNonsense(t *testing.T) {
	f := aFolder(t)
	s := aServer(t, f, nil)
	for _, text := range []string{"GET / HTTP/1.0\r\n\r\n", "\x00\x00\x00\x00", "\x00\x00\x00\x07\x01\x00\x00\x63\x00\x00\x00"} {
		conn, err := f.Dial(s.Info().Name)
		if err != nil {
			t.Fatal(err)
		}
		conn.Write([]byte(text))
		conn.SetReadDeadline(time.Now().Add(20 * time.Second))
		for b := make([]byte, 100); err == nil; _, err = conn.Read(b) {
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%q: the connection stays", text)
		}
		conn.Close()
	}
	if _, err := f.ask(context.Background(), s.Info().Name); err != nil {
		t.Error(err)
	}
}

func TestStaleSocket(t *testing.T) {
	f := aFolder(t)
	l, err := net.ListenUnix("unix", &net.UnixAddr{Name: f.socket("dead-1"), Net: "unix"})
	if err != nil {
		t.Fatal(err)
	}
	l.SetUnlinkOnClose(false)
	l.Close()
	if _, name, err := Find("dead"); name != "dead-1" {
		t.Error("a young socket is removed", err)
	}
	old := time.Now().Add(-time.Hour)
	os.Chtimes(f.socket("dead-1"), old, old)
	if _, _, err := Find("dead"); err == nil {
		t.Error("a dead job is found")
	}
	if _, err := os.Lstat(f.socket("dead-1")); err == nil {
		t.Error("its socket is left")
	}
}

func TestFind(t *testing.T) {
	f := aFolder(t)
	for _, name := range []string{"heat-1a", "heat-1b", "cg-2", ".hidden", "bad name"} {
		os.WriteFile(f.socket(name), nil, 0o600)
	}
	for name, want := range map[string]string{
		"heat-1a": "heat-1a", "cg": "cg-2", "heat": `"heat" may mean heat-1a or heat-1b`,
		"x": `there is no job "x" on this machine; there are cg-2, heat-1a, heat-1b`, "": "there are several jobs: name one of cg-2, heat-1a, heat-1b",
	} {
		_, got, err := Find(name)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

// A job that has ended has no hosts: who asks for those of the only job means the one that runs.
func TestFindRunning(t *testing.T) {
	f := aFolder(t)
	for _, file := range []string{f.socket("heat-1"), f.file("cg-2", endSuffix), f.socket("pi-3"), f.file("pi-3", endSuffix)} {
		os.WriteFile(file, nil, 0o600)
	}
	for name, want := range map[string]string{"": "heat-1", "heat": "heat-1", "cg": `there is no job "cg" on this machine; there are heat-1`} {
		_, got, err := FindRunning(name)
		if err != nil {
			got = err.Error()
		}
		if got != want {
			t.Errorf("%q: %q, want %q", name, got, want)
		}
	}
}

func TestFolderRefused(t *testing.T) {
	f := aFolder(t)
	if err := os.Chmod(string(f), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := f.make(); err == nil || !strings.Contains(err.Error(), "chmod 700") {
		t.Error(err)
	}
	if err := Folder("/" + strings.Repeat("x", 90)).make(); err == nil || !strings.Contains(err.Error(), "too long") {
		t.Error(err)
	}
	link := filepath.Join(t.TempDir(), "link")
	os.Symlink("/tmp", link)
	if err := Folder(link).check(); err == nil {
		t.Error("a symbolic link is taken")
	}
	if all := candidates(func(string) string { return "relative" }, 7, "/tmp"); len(all) != 2 || all[0] != "/run/user/7/banyan" || all[1] != "/tmp/banyan-7" {
		t.Error(all)
	}
}

func TestNames(t *testing.T) {
	for program, want := range map[string]string{"/usr/bin/heat": "heat-", "./a b√c": "abc-", "-.x": "x-", "√": "job-", strings.Repeat("y", 99): strings.Repeat("y", maxName-7) + "-"} {
		name := NewName(program)
		if !strings.HasPrefix(name, want) || !validName(name) {
			t.Errorf("%q: %q", program, name)
		}
	}
}

// A process of another user is refused, even if it gets to the socket.
func TestOtherUser(t *testing.T) {
	const variable = "BANYAN_TEST_CONSOLE_SOCKET"
	if path := os.Getenv(variable); path != "" {
		conn, err := net.Dial("unix", path)
		if err == nil {
			_, err = Ask[Info](context.Background(), conn, "status", struct{}{}, nil)
		}
		t.Fatal("answer: ", err)
	}
	if os.Geteuid() != 0 {
		t.Skip("only root can become another user")
	}
	f := aFolder(t)
	s := aServer(t, f, nil)
	path := f.socket(s.Info().Name)
	for dir := string(f); dir != "/tmp" && dir != "/"; dir = filepath.Dir(dir) {
		os.Chmod(dir, 0o777)
	}
	os.Chmod(path, 0o777)
	binary := filepath.Join(filepath.Dir(string(f)), "test") // where the other user may execute it
	self, err := os.ReadFile("/proc/self/exe")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(binary, self, 0o755); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "-test.run", "^TestOtherUser$")
	cmd.Dir = "/"
	cmd.Env = append(os.Environ(), variable+"="+path)
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	if err == nil || !strings.Contains(string(out), "the job belongs to another user (you are "+strconv.Itoa(65534)+")") {
		t.Errorf("%v: %s", err, out)
	}
}
