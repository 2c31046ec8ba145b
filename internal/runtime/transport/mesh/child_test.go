package mesh

import (
	"bufio"
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"banyan/internal/proto"
	"banyan/internal/runtime/handshake"
	"banyan/internal/runtime/transport"
	"banyan/internal/runtime/wire"
)

// Some tests and benchmarks need a second process. It runs this binary again, as Proc 1 of a job
// of two, in a role that the environment names.
const (
	childRole   = "BANYAN_TEST_MESH_ROLE"
	childCard   = "BANYAN_TEST_MESH_CARD"
	childSecret = "BANYAN_TEST_MESH_SECRET"
	childMedia  = "BANYAN_TEST_MESH_MEDIA"
)

// Roles of the child.
const (
	roleStream = "stream" // sends frames without end
	roleHold   = "hold"   // the same, and a grandchild holds its socket open
	roleLeave  = "leave"  // sends leaveFrames, drains, exits
	roleEcho   = "echo"   // sends back what comes, until the parent is gone
	roleQuiet  = "quiet"  // the same, but doesn't send first
	roleExpose = "expose" // lets its memory be read
	roleKeep   = "keep"   // keeps records without end, after a frame has come
	roleMute   = "mute"   // sends one frame and takes nothing
	roleHalves = "halves" // has no network: BenchmarkHalves
)

const leaveFrames = 100

// child is the main function of a child.
func child(role string) {
	runtime.GOMAXPROCS(16)
	// A child that its test has forgotten ends by itself.
	time.AfterFunc(time.Minute, func() { os.Exit(3) })
	if role == roleHalves {
		writeHalves()
		return
	}
	secret, _ := hex.DecodeString(os.Getenv(childSecret))
	parent, err := ParseCard(os.Getenv(childCard))
	if err != nil {
		panic(err)
	}
	media, _ := strconv.Atoi(os.Getenv(childMedia))
	tr, err := Listen(Config{Self: 1, N: 2, Secret: secret, Media: Media(media), Resolve: func(proto.Proc) (Card, error) { return parent, nil }})
	if err != nil {
		panic(err)
	}
	fmt.Println(tr.Card())

	s := &childSink{tr: tr, echo: role == roleEcho || role == roleQuiet, dest: make([]byte, wire.MaxPayload)}
	number := uint64(0)
	send := func(size int) {
		number++
		tr.Send(0, &wire.Header{Kind: wire.KindEager, Seq: number, Total: uint64(size)}, s.dest[:size], 0)
		tr.Poll(s)
	}
	switch role {
	case roleHold:
		for send(1); tr.peer(0).state != live; {
			tr.Poll(s)
		}
		held, err := unix.Dup(tr.peer(0).fd)
		if err != nil {
			panic(err)
		}
		file := os.NewFile(uintptr(held), "the connection")
		grandchild := exec.Command("sleep", "60")
		grandchild.ExtraFiles = []*os.File{file}
		if err := grandchild.Start(); err != nil {
			panic(err)
		}
		file.Close()
		fmt.Println(grandchild.Process.Pid)
		fallthrough
	case roleStream:
		for i := 0; ; i++ {
			send(i * 997 % 20000)
			for tr.Queued(0) > 1<<20 {
				tr.Poll(s)
			}
		}
	case roleLeave:
		for i := range leaveFrames {
			send(i * 997)
		}
		for tr.peer(0).state == notConnected { // Drain wouldn't wait for it
			tr.Poll(s)
		}
		tr.Drain(time.Minute)
	case roleKeep:
		for send(0); !tr.Keep(0, 1, []byte("1")); {
			tr.Poll(s)
		}
		for n := uint64(2); ; n++ {
			tr.Release(0, n-min(n, 20))
			if !tr.Keep(0, n, fmt.Append(nil, n)) {
				return // the parent has closed it
			}
			binary.LittleEndian.PutUint64(s.dest, n) // this has left, so n is to be found
			tr.Send(0, &wire.Header{Kind: wire.KindEager, Seq: n, Total: 8}, s.dest[:8], 0)
			for tr.Queued(0) > 0 {
				tr.Poll(s)
			}
		}
	case roleMute:
		for send(1); tr.Queued(0) > 0; {
			tr.Poll(s)
		}
		time.Sleep(time.Minute)
	case roleExpose:
		exposeAndWait(tr, s)
	case roleQuiet:
		for !s.closed {
			tr.Poll(s)
			tr.Wait(time.Second)
		}
	case roleEcho:
		pin(1)
		for send(0); !s.closed; {
			tr.Poll(s)
		}
	}
}

// pin keeps this thread on a core of its own, where there is one.
func pin(core int) {
	runtime.LockOSThread()
	var set unix.CPUSet
	set.Set(core)
	unix.SchedSetaffinity(0, &set)
}

type childSink struct {
	tr     *Transport
	echo   bool
	dest   []byte
	closed bool
}

func (s *childSink) Frame(from proto.Proc, h *wire.Header, payload []byte) {
	if s.echo {
		s.tr.Send(from, h, payload, 0)
	}
}
func (s *childSink) Dest(_ proto.Proc, h *wire.Header) []byte { return s.dest[:h.Length] }
func (s *childSink) Arrived(from proto.Proc, h *wire.Header) {
	if s.echo {
		s.tr.Send(from, h, s.dest[:h.Length], 1)
	}
}
func (s *childSink) Sent(proto.Proc, uint64)               {}
func (s *childSink) Closed(proto.Proc, transport.Evidence) { s.closed = true }

// startChild starts a child. It returns this process's end of the job, as Proc 0, and what the
// child prints after its card.
func startChild(t testing.TB, role string, media Media) (*Transport, *exec.Cmd, *bufio.Scanner) {
	t.Helper()
	secret := make([]byte, handshake.MinSecret)
	rand.Read(secret)
	published := make(cards, 2)
	tr, err := Listen(Config{Self: 0, N: 2, Secret: secret, Media: media, Resolve: published.resolve})
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("/proc/self/exe")
	cmd.Env = append(os.Environ(), childRole+"="+role, childCard+"="+tr.Card().String(), childSecret+"="+hex.EncodeToString(secret), fmt.Sprintf("%s=%d", childMedia, media))
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		tr.Close()
		cmd.Process.Kill()
		cmd.Wait()
	})
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		t.Fatal("the child says nothing")
	}
	if published[1], err = ParseCard(lines.Text()); err != nil {
		t.Fatal(err)
	}
	return tr, cmd, lines
}

// witness counts the child's frames and notes its end.
type witness struct {
	t      *testing.T
	frames uint64
	dest   []byte
	closed int
	why    transport.Evidence
}

func (w *witness) Frame(_ proto.Proc, h *wire.Header, _ []byte) {
	w.frames++
	if h.Seq != w.frames || w.closed > 0 {
		w.t.Errorf("frame %d as number %d, after %d ends", h.Seq, w.frames, w.closed)
	}
}
func (w *witness) Dest(_ proto.Proc, h *wire.Header) []byte {
	w.dest = make([]byte, h.Length)
	return w.dest
}
func (w *witness) Arrived(p proto.Proc, h *wire.Header) { w.Frame(p, h, nil) }
func (w *witness) Sent(proto.Proc, uint64)              {}
func (w *witness) Closed(_ proto.Proc, why transport.Evidence) {
	w.closed++
	w.why = why
}

// watch polls until done, at most for a while.
func watch(t *testing.T, tr *Transport, w *witness, what string, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !done(); {
		if tr.Poll(w) == 0 {
			tr.Wait(100 * time.Millisecond)
		}
		if time.Now().After(deadline) {
			t.Fatalf("no end of waiting until %s", what)
		}
	}
}

// The kernel tells that a process was killed. Its peer gets a prefix of what it had sent, then
// the end. A zombie, which the child is until the end of the test, counts as dead, too.
func TestKilledChild(t *testing.T) {
	for _, c := range []struct {
		role  string
		media Media
	}{{roleStream, Sockets}, {roleHold, Sockets}, {roleStream, SharedMemory}, {roleHold, SharedMemory}} {
		role := c.role
		t.Run(fmt.Sprint(role, c.media), func(t *testing.T) {
			tr, cmd, lines := startChild(t, role, c.media)
			if role == roleHold {
				if !lines.Scan() {
					t.Fatal("no grandchild")
				}
				var pid int
				fmt.Sscan(strings.TrimSpace(lines.Text()), &pid)
				defer unix.Kill(pid, unix.SIGKILL)
			}
			w := &witness{t: t}
			watch(t, tr, w, "the stream flows", func() bool { return w.frames > 200 })
			cmd.Process.Kill()
			watch(t, tr, w, "the end is told", func() bool { return w.closed > 0 })
			if w.why != transport.EvidenceExited {
				t.Errorf("the evidence is %v", w.why)
			}
			tr.Send(1, &wire.Header{Kind: wire.KindDone}, nil, 0)
			for range 100 {
				tr.Poll(w)
			}
			if w.closed != 1 {
				t.Errorf("closed %d times", w.closed)
			}
		})
	}
}

// All frames of a process that leaves in order arrive.
func TestLeavingChild(t *testing.T) {
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			tr, _, _ := startChild(t, roleLeave, m.media)
			w := &witness{t: t}
			for range 10 { // the child never reads all of this: its exit resets the connection
				tr.Send(1, &wire.Header{Kind: wire.KindEager, Total: 100}, make([]byte, 100), 0)
			}
			watch(t, tr, w, "the end is told", func() bool { return w.closed > 0 })
			if w.frames != leaveFrames || w.why != transport.EvidenceExited {
				t.Errorf("%d frames of %d, %v", w.frames, leaveFrames, w.why)
			}
		})
	}
}

// A stopped process isn't dead; if it is killed while it is stopped, it is.
func TestStoppedChild(t *testing.T) {
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			tr, cmd, _ := startChild(t, roleMute, m.media)
			w := &witness{t: t}
			watch(t, tr, w, "they are connected", func() bool { return w.frames == 1 })
			unix.Kill(cmd.Process.Pid, unix.SIGSTOP)
			for range 24 {
				tr.Send(1, &wire.Header{Kind: wire.KindEager, Total: wire.MaxPayload}, make([]byte, wire.MaxPayload), 0)
			}
			for end := time.Now().Add(200 * time.Millisecond); time.Now().Before(end); tr.Poll(w) {
				tr.Wait(10 * time.Millisecond)
			}
			if w.closed > 0 || tr.Queued(1) == 0 {
				t.Errorf("%d ends of a stopped process, %d bytes wait", w.closed, tr.Queued(1))
			}
			cmd.Process.Kill()
			watch(t, tr, w, "the end is told", func() bool { return w.closed > 0 })
			if w.why != transport.EvidenceExited || tr.Queued(1) != 0 {
				t.Errorf("the evidence is %v, %d bytes wait", w.why, tr.Queued(1))
			}
		})
	}
}

// A process that is stopped before the first contact, perhaps by a debugger, is connected when it
// goes on, even if that takes longer than attempts to connect do.
func TestChildStoppedBeforeContact(t *testing.T) {
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			tr, cmd, _ := startChild(t, roleQuiet, m.media)
			tr.dialler.limit = 100 * time.Millisecond
			unix.Kill(cmd.Process.Pid, unix.SIGSTOP)
			w := &witness{t: t}
			tr.Send(1, &wire.Header{Kind: wire.KindEager, Seq: 1}, nil, 0)
			for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); tr.Poll(w) {
				tr.Wait(10 * time.Millisecond)
			}
			if w.closed > 0 || w.frames > 0 {
				t.Errorf("%d ends and %d frames of a stopped process", w.closed, w.frames)
			}
			unix.Kill(cmd.Process.Pid, unix.SIGCONT)
			watch(t, tr, w, "the echo comes", func() bool { return w.frames == 1 })
		})
	}
}

// A process that died before the first contact is found dead at once.
func TestChildDeadBeforeContact(t *testing.T) {
	for _, m := range all {
		t.Run(m.name, func(t *testing.T) {
			tr, cmd, _ := startChild(t, roleMute, m.media)
			cmd.Process.Kill()
			cmd.Wait()
			// The child may have been heard or not. If there is a connection, its news are the
			// first thing that a Poll takes.
			w := &witness{t: t}
			tr.Send(1, &wire.Header{Kind: wire.KindDone}, nil, 0)
			watch(t, tr, w, "the end is told", func() bool { return w.closed > 0 })
			if w.why != transport.EvidenceExited {
				t.Errorf("the evidence is %v", w.why)
			}
		})
	}
}
