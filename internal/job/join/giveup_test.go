package join_test

import (
	"os"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/job/pmi"
	"banyan/internal/job/pmi/pmitest"
	"banyan/internal/proto"
)

// lifeline is the launcher's end of the lifeline of a process.
type lifeline struct {
	*control.Conn
	w     *walk
	heard []control.Type
}

// expect receives until a message of a type comes.
func (l *lifeline) expect(want control.Type) control.Message {
	l.w.t.Helper()
	for {
		m, err := l.Receive()
		if err != nil {
			l.w.t.Fatalf("%q doesn't come, after %q: %v; %s", want, l.heard, err, l.w.stderr())
		}
		if l.heard = append(l.heard, m.Type); m.Type == want {
			return m
		}
	}
}

func (l *lifeline) tell(m control.Message) {
	l.w.t.Helper()
	if err := l.Send(m); err != nil {
		l.w.t.Fatal(err)
	}
}

// startReplacing starts a rank of two replicas, the second of which replaces one that has died, and
// plays their launcher until the donor is paused.
func startReplacing(t *testing.T) (w *walk, donor, replacement *lifeline) {
	t.Parallel()
	w = &walk{t: t, dir: t.TempDir(), ranks: 1}
	server := pmi.NewServer(2, "test", func(int, int, string) {})
	server.MakeSecret()
	server.Gone(1) // the first one
	start := func(i int, set ...string) *lifeline {
		fds, err := syscall.Socketpair(syscall.AF_UNIX, syscall.SOCK_STREAM|syscall.SOCK_CLOEXEC|syscall.SOCK_NONBLOCK, 0)
		if err != nil {
			t.Fatal(err)
		}
		ours, theirs := os.NewFile(uintptr(fds[0]), "lifeline"), os.NewFile(uintptr(fds[1]), "lifeline")
		ours.SetReadDeadline(time.Now().Add(40 * time.Second)) // a message that is waited for may not come
		cmd := command(append(set, "JOB_TEST_PROGRAM=stroll", "STROLL_DIR="+w.dir, env.HeartbeatTimeout+"=20s",
			env.Replicas+"=2", env.Heal+"=1", env.ControlFD+"=3")...)
		cmd.ExtraFiles = []*os.File{theirs}
		attached := pmitest.Attach(t, server, cmd, i, 2)
		w.members = append(w.members, &member{pmitest.Alone(t, cmd)})
		attached()
		theirs.Close()
		return &lifeline{Conn: control.NewConn(ours), w: w}
	}
	donor = start(0)
	donor.expect(control.Ready)
	donor.tell(control.Message{Type: control.Death, Proc: 1})
	donor.expect(control.Healable)
	donor.tell(control.Message{Type: control.Noted})
	replacement = start(1, env.Incarnations+"="+env.FormatIncarnations([]proto.Incarnation{0, 1}, []bool{false, true}))
	replacement.expect(control.Arrived)
	donor.tell(control.Message{Type: control.Admit, Proc: 1, Incarnation: 1})
	donor.tell(control.Message{Type: control.Donate, Proc: 1, Incarnation: 1})
	donor.expect(control.Mark)
	return w, donor, replacement
}

// A replacement that is asked to give up before it has its donor's state ends, and says why. The
// donor goes on.
func TestReplacementGivesUp(t *testing.T) {
	w, donor, replacement := startReplacing(t)
	replacement.tell(control.Message{Type: control.GiveUp, Text: "it is late"})
	if m := replacement.expect(control.HealFailed); !strings.Contains(m.Text, "it is late") {
		t.Errorf("it says %q", m.Text)
	}
	if code := w.members[1].wait(t); code != 1 || slices.Contains(replacement.heard, control.Committed) {
		t.Errorf("it ends with %d, and has said %q", code, replacement.heard)
	}
	donor.tell(control.Message{Type: control.Death, Proc: 1, Incarnation: 1})
	w.await(0)
	leaveNote(w.dir, "go", "")
	donor.expect(control.Finalized)
	if code := w.members[0].wait(t); code != 0 {
		t.Errorf("the donor ends with %d; %s", code, w.stderr())
	}
}

// One that has its donor's state says so again, and stays.
func TestReplacementThatHasCommittedStays(t *testing.T) {
	w, donor, replacement := startReplacing(t)
	donor.tell(control.Message{Type: control.Marked, Proc: 1, Incarnation: 1})
	replacement.expect(control.Committed)
	replacement.tell(control.Message{Type: control.GiveUp, Text: "it is late"})
	replacement.expect(control.Committed)
	w.await(1)
	leaveNote(w.dir, "go", "")
	for i, l := range []*lifeline{donor, replacement} {
		l.expect(control.Finalized)
		if code := w.members[i].wait(t); code != 0 {
			t.Errorf("process %d ends with %d; %s", i, code, w.stderr())
		}
	}
}
