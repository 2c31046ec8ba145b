package survival

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// A program that handles failures itself goes on when a rank dies in the middle of collectives
// through shared memory, between agreements, or while another waits in a receive.
func TestULFM(t *testing.T) {
	program := cprogram.Compile(t, "ulfm")
	for _, how := range []string{"loop", "jumps", "resilient", "agrees", "details"} {
		o := cprogram.Job(t, 4, program, how)
		if o.Code != 0 || strings.Count(o.Stdout, "goes on") != 3 || !strings.Contains(o.Stderr, "the program goes on without it") {
			t.Errorf("%s: %v", how, o)
		}
		o.NoTrace(t)
	}
}

// MPI_Abort and MPI_ERRORS_ABORT end the ranks of a communicator, and the others go on.
func TestULFMAborts(t *testing.T) {
	program := cprogram.Compile(t, "ulfm")
	for how, why := range map[string]string{
		"aborts":       "rank 3 (pid ",
		"aborts-error": "MPI_Send on communicator",
	} {
		o := cprogram.Job(t, 4, program, how)
		if o.Code != 0 || strings.Count(o.Stdout, "goes on") != 2 || !strings.Contains(o.Stderr, why) || !strings.Contains(o.Stderr, "aborted ranks 2, 3 with code") {
			t.Errorf("%s: %v", how, o)
		}
		o.NoTrace(t)
	}
}

// --with-ft decides whether a job goes on, whatever the program says.
func TestWithFaultTolerance(t *testing.T) {
	program := cprogram.Compile(t, "ulfm")
	for _, x := range []struct {
		flag, how string
		code      int
		goOn      int
	}{
		{"auto", "unneeded", 137, 0},
		{"ulfm", "unneeded", 0, 3},
		{"mpi", "jumps", 0, 3},
		{"no", "jumps no", 137, 0},
		{"no", "aborts no", 7, 0},
	} {
		o := cprogram.Run(t, cprogram.Tool("banyan"), append([]string{"run", "-n", "4", "--with-ft", x.flag, program}, strings.Fields(x.how)...)...)
		if o.Code != x.code || strings.Count(o.Stdout, "goes on") != x.goOn {
			t.Errorf("--with-ft %s, %s: %v", x.flag, x.how, o)
		}
		o.NoTrace(t)
	}
	for flags, want := range map[string]string{
		"--with-ft maybe":               "want auto, ulfm, mpi or no",
		"--with-ft ulfm --replicas 2":   "for jobs without replicas",
		"--with-ft mpi --rollback":      "for jobs without --rollback",
		"--with-ft ulfm -n 2 --bcast x": "want tree=KIND",
	} {
		o := cprogram.Run(t, cprogram.Tool("banyan"), append(append([]string{"run"}, strings.Fields(flags)...), program, "loop")...)
		if o.Code != 2 || !strings.Contains(o.Stderr, want) {
			t.Errorf("%s: %v", flags, o)
		}
	}
}

// What sends, receives, probes and tests of several requests say after a death is the same through
// shared memory and by messages; so are strict agreements.
func TestFailures(t *testing.T) {
	program := cprogram.Compile(t, "failures")
	for _, transport := range []string{"shm", "tcp"} {
		for _, how := range []string{"requests", "strict"} {
			o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "4", "--transport", transport, program, how)
			if o.Code != 0 || strings.Count(o.Stdout, "goes on") != 3 {
				t.Errorf("%s, %s: %v", transport, how, o)
			}
			o.NoTrace(t)
		}
	}
}

// A job that hangs says for whom an agreement waits, by messages and through common memory, and so
// does all that stands on agreements.
func TestStuckAgreement(t *testing.T) {
	program := cprogram.Compile(t, "ulfm")
	for _, what := range []string{"0", "100", "shrink", "iagree", "ishrink", "resilient"} {
		t.Run(what, func(t *testing.T) {
			t.Parallel() // it does nothing but wait
			o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "3", "--timeout", "1s", program, "stuck-"+what)
			for _, want := range []string{"longer than its limit", "rank 2 (pid "} {
				if !strings.Contains(o.Stderr, want) {
					t.Errorf("without %q: %v", want, o)
				}
			}
			if !regexp.MustCompile(`(?m)rank [01] \(pid \d+\) waits .*for rank 2 in an agreement$`).MatchString(o.Stderr) || o.Code != 124 {
				t.Error(o)
			}
			o.NoTrace(t)
		})
	}
}

// An agreement ends though a rank has finalised without it, by messages and through common memory.
func TestAgreementFinalised(t *testing.T) {
	program := cprogram.Compile(t, "ulfm")
	for _, before := range []string{"0", "200"} {
		o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "4", "--timeout", "40s", program, "finalises-"+before)
		if o.Code != 0 || strings.Count(o.Stdout, "goes on") != 4 {
			t.Errorf("after %s agreements: %v", before, o)
		}
		o.NoTrace(t)
	}
}

// A communicator that one rank never makes ends agreements with an error, once that rank finalises.
func TestAgreementUnopened(t *testing.T) {
	program := cprogram.Compile(t, "ulfm")
	for without := range 4 {
		for _, flags := range [][]string{nil, {"--transport", "tcp"}, cprogram.OnHosts("a:2,b:2")} {
			args := append(append([]string{"run", "-n", "4", "--timeout", "40s"}, flags...), program, fmt.Sprint("unopened-", without))
			o := cprogram.Run(t, cprogram.Tool("banyan"), args...)
			if o.Code != 0 || strings.Count(o.Stdout, "goes on") != 4 {
				t.Errorf("without %d, %v: %v", without, flags, o)
			}
			o.NoTrace(t)
		}
	}
}

// Spare ranks take the places of dead ones.
func TestRefill(t *testing.T) {
	o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "4", "--spare-ranks", "2", cprogram.Compile(t, "ulfm"), "refills")
	if o.Code != 0 || strings.Count(o.Stdout, "goes on") != 4 {
		t.Error(o)
	}
	o.NoTrace(t)
}

// In jobs that survive deaths in other ways programs agree and shrink as if nobody died, in
// whichever order replicas run, and can't revoke.
func TestULFMHidden(t *testing.T) {
	program := cprogram.Compile(t, "ulfm")
	for _, flags := range []string{"--replicas 2", "--replicas 2 --order leader", "--rollback"} {
		args := append([]string{"run", "-n", "3"}, strings.Fields(flags)...)
		deaths := 0
		if flags != "--rollback" {
			args = append(args, "--fault", "kill rank=1 replica=1 at=send:200")
			deaths = 1
		}
		args = append(args, program, "hidden")
		if !strings.HasSuffix(flags, "leader") { // there the loss of a rank shows to the program
			args = append(args, "no")
		}
		o := cprogram.Run(t, cprogram.Tool("banyan"), args...)
		if o.Code != 0 || strings.Count(o.Stdout, "goes on") != 3 || strings.Contains(o.Stderr, "not so") || strings.Count(o.Stderr, "substitutes") != deaths {
			t.Errorf("%s: %v", flags, o)
		}
		o.NoTrace(t)
	}
}

// Resilient collectives go on when a led rank has lost all its replicas: all that live have the
// same results and errors. Its replicas come to their deaths at different places.
func TestResilientLed(t *testing.T) {
	program := cprogram.Compile(t, "resilientled")
	for _, transport := range []string{"shm", "tcp"} {
		o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "3", "--replicas", "2", "--order", "leader", "--with-ft", "ulfm", "--transport", transport,
			"--fault", "kill rank=1 replica=0 at=send:211; kill rank=1 replica=1 at=send:274", program, "300")
		lines := strings.Split(strings.TrimSpace(o.Stdout), "\n")
		if o.Code != 0 || len(lines) != 2 || lines[0] != lines[1] || !strings.Contains(lines[0], "goes on: 1 times") || strings.Contains(o.Stderr, "not so") {
			t.Errorf("%s: %v", transport, o)
		}
		o.NoTrace(t)
	}
}

// Threads, a file and windows go on when a led rank has lost all its replicas.
func TestThinned(t *testing.T) {
	program := cprogram.Compile(t, "thinned")
	for _, transport := range []string{"shm", "tcp"} {
		for _, how := range [][]string{{"threads", "200"}, {"file", "200", filepath.Join(t.TempDir(), "file")}, {"window", "200"}} {
			o := cprogram.Run(t, cprogram.Tool("banyan"), append([]string{"run", "-n", "3", "--replicas", "2", "--order", "leader", "--with-ft", "ulfm", "--transport", transport,
				"--fault", "kill rank=1 replica=0 at=send:150; kill rank=1 replica=1 at=send:350", program}, how...)...)
			if o.Code != 0 || strings.Count(o.Stdout, "goes on: ") != 2 {
				t.Errorf("%s, %v: %v", transport, how, o)
			}
			o.NoTrace(t)
		}
	}
}

// Fortran has the functions in the module mpi_ext, with handles as mpi and as mpi_f08 have them.
func TestULFMFortran(t *testing.T) {
	if _, err := exec.LookPath("gfortran"); err != nil {
		t.Skip("there is no gfortran; scripts/tools.sh installs it")
	}
	program := cprogram.Build(t, "mpifort", filepath.Join("..", "..", "..", "fortran", "testdata", "ulfm.f90"))
	if o := cprogram.Job(t, 3, program); o.Code != 0 || strings.Count(o.Stdout, "fine") != 3 || strings.Count(o.Stdout, "\n") != 3 {
		t.Error(o)
	}
	program = cprogram.Build(t, "mpifort", filepath.Join("..", "..", "..", "fortran", "testdata", "ulfm08.f90"))
	if o := cprogram.Job(t, 3, program); o.Code != 0 || strings.Count(o.Stdout, "fine") != 2 || strings.Count(o.Stdout, "\n") != 2 {
		t.Error(o)
	}
}
