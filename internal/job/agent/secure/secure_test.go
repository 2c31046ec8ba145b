package secure

import (
	"bytes"
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// met is what both sides of a connection found.
type met struct {
	number                    int
	launcherError, agentError error
}

// meet connects two sides. The agent's side reads after its handshake, as agents do.
func meet(t *testing.T, ofLauncher, ofAgent Key, number int) (m met) {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer listener.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	done := make(chan error)
	go func() {
		conn, err := net.Dial("tcp", listener.Addr().String())
		if err != nil {
			done <- err
			return
		}
		defer conn.Close()
		c, err := Dial(ctx, conn, ofAgent, number)
		if err == nil {
			_, err = io.ReadAll(c)
			err = Explain(err)
		}
		done <- err
	}()
	conn, err := listener.Accept()
	if err != nil {
		t.Fatal(err)
	}
	c, number, err := Accept(ctx, conn, ofLauncher)
	m.number, m.launcherError = number, err
	if err == nil {
		if v := c.ConnectionState().Version; v != tls.VersionTLS13 {
			t.Errorf("version %x", v)
		}
		c.Close()
	}
	m.agentError = <-done
	return m
}

func TestSameKey(t *testing.T) {
	k := NewKey()
	for _, number := range []int{0, 1, 77, MaxNumber} {
		if m := meet(t, k, k, number); m.launcherError != nil || m.agentError != nil || m.number != number {
			t.Errorf("agent %d: %+v", number, m)
		}
	}
}

func TestOtherKey(t *testing.T) {
	m := meet(t, NewKey(), NewKey(), 3)
	if !errors.Is(m.launcherError, ErrOtherKey) || !errors.Is(m.agentError, ErrOtherKey) {
		t.Errorf("%+v", m)
	}
}

// A side that holds the key, but of another role or number than it claims, is refused.
func TestOtherRole(t *testing.T) {
	k := NewKey()
	for _, c := range []tls.Certificate{k.certificate(launcher, 3), k.certificate(agent(4), 3)} {
		ours, theirs := net.Pipe()
		go func() {
			config := k.config(agent(3), 3)
			config.Certificates = []tls.Certificate{c}
			config.InsecureSkipVerify = true
			io.ReadAll(tls.Client(theirs, config))
			theirs.Close()
		}()
		if _, _, err := Accept(t.Context(), ours, k); !errors.Is(err, ErrOtherKey) {
			t.Errorf("%v", err)
		}
	}
}

func TestStrangers(t *testing.T) {
	for name, say := range map[string]string{"http": "GET / HTTP/1.0\r\n\r\n", "nothing": ""} {
		ours, theirs := net.Pipe()
		go func() {
			io.WriteString(theirs, say)
			if say != "" {
				io.Copy(io.Discard, theirs)
			}
			theirs.Close()
		}()
		_, _, err := Accept(t.Context(), ours, NewKey())
		if err == nil || strings.Contains(err.Error(), "\n") {
			t.Errorf("%s: %v", name, err)
		}
		if say != "" && !errors.Is(err, ErrStranger) {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A silent stranger is left when its time is over.
func TestSilentStranger(t *testing.T) {
	ours, theirs := net.Pipe()
	defer theirs.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, _, err := Accept(ctx, ours, NewKey()); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestKeyLines(t *testing.T) {
	k := NewKey()
	r := bytes.NewReader(append(k.Line(), "the rest"...))
	got, err := ReadKey(r)
	if rest, _ := io.ReadAll(r); err != nil || got != k || string(rest) != "the rest" {
		t.Errorf("%v, rest %q", err, rest)
	}
	if got, err := ReadKey(bytes.NewReader(k.Line()[:64])); err != nil || got != k {
		t.Errorf("without the line's end: %v", err)
	}
	for _, bad := range []string{"", "\n", "abc\n", strings.Repeat("x", 64) + "\n", strings.Repeat("0", 65) + "\n", strings.Repeat("0", 1000)} {
		if _, err := ReadKey(strings.NewReader(bad)); err == nil {
			t.Errorf("%q was taken", bad)
		}
	}
}

// No way of printing shows a key.
func TestKeyIsHidden(t *testing.T) {
	k := NewKey()
	digits := string(k.Line()[:8])
	var log bytes.Buffer
	slog.New(slog.NewJSONHandler(&log, nil)).Info("x", "key", k)
	slog.New(slog.NewTextHandler(&log, nil)).Info("x", "key", k)
	j, _ := json.Marshal(map[string]any{"key": k})
	shown := fmt.Sprintf("%v %+v %#v %s %x %d %v", k, k, k, k, k, k, struct{ K Key }{k}) + log.String() + string(j)
	if strings.Contains(strings.ToLower(shown), digits) || !strings.Contains(shown, "(job key)") {
		t.Error(shown)
	}
}

func TestKeyFile(t *testing.T) {
	k, path := NewKey(), filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(path, k.Line(), 0o600); err != nil {
		t.Fatal(err)
	}
	for mode, fine := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o644: false, 0o604: false, 0o620: false} {
		os.Chmod(path, mode)
		if got, err := ReadKeyFile(path); (err == nil) != fine || fine && got != k {
			t.Errorf("%04o: %v", mode, err)
		}
	}
	if _, err := ReadKeyFile(path + "x"); err == nil {
		t.Error("a missing file was read")
	}
}

func TestBuild(t *testing.T) {
	if b := Build(); len(b) != 16 || b != Build() {
		t.Errorf("%q", b)
	}
	if id := goBuildID("/proc/self/exe"); id == "" {
		t.Error("this program has no build id")
	}
	if id := goBuildID("/etc/passwd"); id != "" {
		t.Error(id)
	}
	if sum, err := fileSum("/proc/self/exe"); err != nil || len(sum) != 16 {
		t.Error(sum, err)
	}
}
