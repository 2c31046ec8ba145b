package test

import (
	"strings"
	"syscall"
	"testing"

	"banyan/internal/testing/cprogram"
)

// A program that crashes ends with its own signal, and Go's runtime prints nothing.
func TestCrash(t *testing.T) {
	program := cprogram.Compile(t, "sharedprocess")
	for name, want := range map[string]syscall.Signal{
		"crash-segv": syscall.SIGSEGV, "crash-fpe": syscall.SIGFPE, "crash-abort": syscall.SIGABRT,
		"crash-in-library": syscall.SIGSEGV, "crash-special": syscall.SIGSEGV, "crash-early": syscall.SIGSEGV,
		"pipe-default": syscall.SIGPIPE, "pipe-default-early": syscall.SIGPIPE, "pipe-handler": syscall.SIGPIPE,
	} {
		o := cprogram.Run(t, program, name)
		if o.Signal != want || o.Stderr != "" {
			t.Errorf("%s: %v", name, o)
		}
	}
}

// A program can use signals, threads and jumps although its process also runs Go.
func TestSharedProcess(t *testing.T) {
	program := cprogram.Compile(t, "sharedprocess")
	for _, name := range []string{"handler-segv", "handler-segv-early", "handler-stack", "urgent", "sigwait", "threads",
		"errhandler-jumps", "errhandler-returns", "nothing"} {
		t.Run(name, func(t *testing.T) { cprogram.Run(t, program, name).Fine(t) })
	}
}

// A call in a child of fork returns an error. The first one prints a message, too.
func TestFork(t *testing.T) {
	program := cprogram.Compile(t, "sharedprocess")
	for _, o := range []cprogram.Outcome{cprogram.Run(t, program, "fork"), cprogram.Job(t, 2, program, "fork")} {
		o.Fine(t)
		if !strings.Contains(o.Stderr, "MPI_Comm_rank is called in pid ") || !strings.Contains(o.Stderr, "a child of fork") {
			t.Errorf("stderr: %s", o.Stderr)
		}
	}
}

// Each way to end a program gives the exit code and the message that explain it.
func TestEnds(t *testing.T) {
	program := cprogram.Compile(t, "sharedprocess")
	for _, test := range []struct {
		name   string
		n      int // 0: alone
		code   int
		stderr []string
	}{
		{"exit", 2, 1, []string{"without finalising"}},
		{"exit", 0, 0, nil},
		{"exit-badly", 2, 3, []string{"rank 1 ", "exit code 3"}},
		{"abort", 2, 42, []string{"rank 0 ", "MPI_Abort"}},
		{"abort", 0, 42, []string{"MPI_Abort"}},
		{"fatal", 2, 1, []string{"MPI_Comm_size, rank ", "0xbc614e is no communicator", "MPI_ERR_COMM"}},
		{"segv-of-one", 2, 139, []string{"rank 1 ", "segmentation fault"}},
		{"before-init", 2, 1, []string{"MPI_Comm_rank is called before MPI_Init"}},
		{"before-init", 0, 1, []string{"MPI_Comm_rank is called before MPI_Init"}},
		{"after-finalize", 2, 1, []string{"MPI_Comm_rank is called after MPI_Finalize"}},
		{"abort-after", 0, 6, []string{"MPI_Abort(6)"}},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			var o cprogram.Outcome
			if test.n == 0 {
				o = cprogram.Run(t, program, test.name)
			} else {
				o = cprogram.Job(t, test.n, program, test.name)
			}
			if o.Code != test.code {
				t.Errorf("want code %d: %v", test.code, o)
			}
			for _, s := range test.stderr {
				if !strings.Contains(o.Stderr, s) {
					t.Errorf("want %q: %v", s, o)
				}
			}
			o.NoTrace(t)
			if test.name == "abort" && !strings.Contains(o.Stdout, "before the end") {
				t.Errorf("what was printed before is lost: %v", o)
			}
		})
	}
}

// A call allocates nothing: the garbage collector never runs.
func TestNoGarbage(t *testing.T) {
	program := cprogram.Compile(t, "sharedprocess")
	t.Setenv("GODEBUG", "gctrace=1")
	o := cprogram.Run(t, program, "many-calls")
	o.Fine(t)
	if n := strings.Count(o.Stderr, "gc "); n > 1 {
		t.Errorf("%d collections: %s", n, o.Stderr)
	}
}
