package launcher

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	lib "banyan/mpi"
)

// hang is a program each of whose ranks waits for something that never comes.
func hang() {
	lib.Main(func(world *lib.Comm) error {
		pair, err := world.Split(world.Rank()/6, 0) // ranks 6 and 7 have one of their own
		if err != nil {
			return err
		}
		switch world.Rank() {
		case 0:
			_, err = lib.Recv(world, make([]byte, 10), 1, 5)
		case 1:
			err = lib.Send(world, make([]byte, 1_000_000), 2, 7)
		case 2:
			_, err = world.Probe(lib.AnySource, 9)
		case 3:
			absent("computes", time.Hour)
		case 4:
			var r lib.Request
			if r, err = lib.Irecv(world, make([]byte, 10), lib.AnySource, lib.AnyTag); err == nil {
				for done := false; !done && err == nil; {
					_, done, err = r.Test()
				}
			}
		case 5:
		case 6:
			err = pair.Barrier()
		case 7:
			unix.Kill(unix.Getpid(), unix.SIGSTOP)
		}
		return err
	})
}

// A late job says what each rank waits for. How long the ranks take to come to where they wait is
// for the machine to say: the job gets more time until they have.
func TestLateJobExplainsItself(t *testing.T) {
	t.Parallel()
	for limit := 2 * time.Second; ; limit *= 2 {
		o := run(t, Config{Ranks: 8, Limit: limit, HeartbeatTimeout: time.Minute}, "hang")
		if o.report.Outcome != OutcomeTimedOut || len(o.report.Deaths) > 0 || len(o.report.Warnings) < 8 {
			t.Errorf("%+v", o.report)
		}
		wrong := misexplained(o.stderr)
		if len(wrong) == 0 || t.Failed() {
			return
		}
		if limit > 10*time.Second {
			t.Fatalf("within %v: %s", limit, strings.Join(wrong, "; "))
		}
	}
}

// misexplained is what is said of the ranks of "hang", and isn't as it should be.
func misexplained(stderr string) (wrong []string) {
	for rank, want := range []string{
		" waits for a message from rank 1 with tag 5",
		" waits for rank 2 to receive 1000000 bytes with tag 7",
		" waits for a message from any rank with tag 9",
		" is in no function that waits",
		" polls, and waits for a message from any rank with any tag",
		" has finished, and waits for the others",
		" waits in Barrier for a message from rank 7",
		" is stopped",
	} {
		found := false
		for line := range strings.Lines(stderr) {
			if strings.HasPrefix(line, "banyan: rank "+string(rune('0'+rank))+" ") {
				found = true
				if line = strings.TrimSpace(line); !strings.HasSuffix(line, want) {
					wrong = append(wrong, fmt.Sprintf("said %q, want %q", line, want))
				}
			}
		}
		if !found {
			wrong = append(wrong, fmt.Sprintf("nothing is said of rank %d", rank))
		}
	}
	return wrong
}

// The user is also told of processes that never initialise MPI. A process that doesn't answer
// doesn't keep the job alive.
func TestLateProgramsThatDoNotAnswer(t *testing.T) {
	t.Parallel()
	o := run(t, Config{Ranks: 1, Program: "sleep", Args: []string{"60"}, Limit: 300 * time.Millisecond})
	if !strings.Contains(o.stderr, "hasn't got through MPI_Init") {
		t.Errorf("%q", o.stderr)
	}
	start := time.Now()
	o = run(t, Config{Ranks: 1, Limit: 3 * time.Second}, "sleep") // it ignores the question, when it has started
	if !strings.Contains(o.stderr, "doesn't say what it waits for") || o.report.Outcome != OutcomeTimedOut {
		t.Errorf("%q", o.stderr)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("took %v", took)
	}
}
