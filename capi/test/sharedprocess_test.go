package test

import (
	"strings"
	"syscall"
	"testing"
)

// A program that crashes ends with its own signal, and Go's runtime prints nothing.
func TestCrash(t *testing.T) {
	program := compile(t, "sharedprocess")
	for name, want := range map[string]syscall.Signal{
		"crash-segv": syscall.SIGSEGV, "crash-fpe": syscall.SIGFPE, "crash-abort": syscall.SIGABRT,
		"crash-in-library": syscall.SIGSEGV, "crash-special": syscall.SIGSEGV, "crash-early": syscall.SIGSEGV,
		"pipe-default": syscall.SIGPIPE, "pipe-default-early": syscall.SIGPIPE, "pipe-handler": syscall.SIGPIPE,
	} {
		o := run(t, program, name)
		if o.signal != want || o.stderr != "" {
			t.Errorf("%s: %v", name, o)
		}
	}
}

// A program can use signals, threads and jumps although its process also runs Go.
func TestSharedProcess(t *testing.T) {
	program := compile(t, "sharedprocess")
	for _, name := range []string{"handler-segv", "handler-segv-early", "handler-stack", "urgent", "sigwait", "threads",
		"errhandler-jumps", "errhandler-returns", "nothing"} {
		t.Run(name, func(t *testing.T) { run(t, program, name).fine(t) })
	}
}

// A call in a child of fork returns an error. The first one prints a message, too.
func TestFork(t *testing.T) {
	program := compile(t, "sharedprocess")
	for _, o := range []outcome{run(t, program, "fork"), job(t, 2, program, "fork")} {
		o.fine(t)
		if !strings.Contains(o.stderr, "MPI_Comm_rank is called in pid ") || !strings.Contains(o.stderr, "a child of fork") {
			t.Errorf("stderr: %s", o.stderr)
		}
	}
}

// A function that isn't implemented says so once and returns an error, or ends the job. That the
// program has called it is the job's last word.
func TestMissing(t *testing.T) {
	program := compile(t, "sharedprocess")
	for _, o := range []outcome{run(t, program, "missing"), job(t, 2, program, "missing")} {
		o.fine(t)
		for _, name := range []string{"MPI_Open_port", "MPI_Close_port", "MPI_Comm_connect", "MPI_Unpublish_name"} {
			if n := strings.Count(o.stderr, name+" isn't implemented by Banyan yet"); n < 1 || n > 2 {
				t.Errorf("about %s:\n%s", name, o.stderr)
			}
		}
		lines := strings.Split(strings.TrimSuffix(o.stderr, "\n"), "\n")
		last := lines[len(lines)-1]
		if !strings.HasPrefix(last, "banyan: the program has called functions that Banyan doesn't implement, and that did nothing: ") ||
			!strings.Contains(last, "MPI_Comm_connect") || !strings.Contains(last, "MPI_Unpublish_name") || strings.Count(last, "MPI_Open_port") != 1 {
			t.Errorf("the last word is %q", last)
		}
	}
	o := run(t, program, "missing-fatal")
	if o.code != 1 || !strings.Contains(o.stderr, "MPI_Open_port, rank 0: Banyan doesn't implement this function yet (MPI_ERR_UNSUPPORTED_OPERATION)") {
		t.Errorf("%v", o)
	}
}

// Each way to end a program gives the exit code and the message that explain it.
func TestEnds(t *testing.T) {
	program := compile(t, "sharedprocess")
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
			var o outcome
			if test.n == 0 {
				o = run(t, program, test.name)
			} else {
				o = job(t, test.n, program, test.name)
			}
			if o.code != test.code {
				t.Errorf("want code %d: %v", test.code, o)
			}
			for _, s := range test.stderr {
				if !strings.Contains(o.stderr, s) {
					t.Errorf("want %q: %v", s, o)
				}
			}
			o.noTrace(t)
			if test.name == "abort" && !strings.Contains(o.stdout, "before the end") {
				t.Errorf("what was printed before is lost: %v", o)
			}
		})
	}
}

// A call allocates nothing: the garbage collector never runs.
func TestNoGarbage(t *testing.T) {
	program := compile(t, "sharedprocess")
	t.Setenv("GODEBUG", "gctrace=1")
	o := run(t, program, "many-calls")
	o.fine(t)
	if n := strings.Count(o.stderr, "gc "); n > 1 {
		t.Errorf("%d collections: %s", n, o.stderr)
	}
}
