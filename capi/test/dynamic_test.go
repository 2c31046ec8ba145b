package test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"banyan/internal/testing/cprogram"
)

// The halves of a job connect at a port, ranks meet over a socket, what is wrong is an error of
// the right class at all ranks of the group, and nobody waits in vain.
func TestDynamic(t *testing.T) {
	program := cprogram.Compile(t, "dynamic")
	for _, x := range [][]string{
		{"ports", "-n", "2"}, {"ports", "-n", "5"}, {"ports", "-n", "3", "--transport", "tcp"}, {"ports", "-n", "4", "--encrypt=tcp", "--transport", "tcp"},
		{"errors", "-n", "3"}, {"join", "-n", "2"},
	} {
		args := append(append([]string{"run", "--timeout", "50"}, x[1:]...), program, x[0], filepath.Join(t.TempDir(), "socket"))
		o := cprogram.Run(t, cprogram.Tool("banyan"), args...)
		if o.Code != 0 || !strings.Contains(o.Stdout, x[0]+": good") {
			t.Errorf("%v: %v", x, o)
		}
		o.NoTrace(t)
	}
}

// Programs spawn others, also without a launcher, and those spawn more. The job's output has
// theirs, and the job ends after them, with their exit code if its own is 0.
func TestSpawn(t *testing.T) {
	program := cprogram.Compile(t, "dynamic")
	for _, x := range []string{"1", "3"} {
		o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "--timeout", "50", "-n", x, program, "spawn")
		if o.Code != 0 || o.Stdout != "spawn: good\n" || o.Stderr != "" {
			t.Errorf("%s ranks: %v", x, o)
		}
	}
	o := cprogram.Run(t, program, "spawn")
	if o.Code != 0 || o.Stdout != "spawn: good\n" {
		t.Errorf("without a launcher: %v", o)
	}
	o = cprogram.Run(t, cprogram.Tool("banyan"), "run", "--timeout", "50", "-n", "2", program, "death")
	if o.Code != 137 || !strings.Contains(o.Stdout, "death: good") || strings.Count(o.Stderr, "died: signal 9") != 1 {
		t.Errorf("a child dies: %v", o)
	}
	o = cprogram.Run(t, cprogram.Tool("banyan"), "run", "--timeout", "50", "-n", "2", program, "child aborts")
	if o.Code != 7 || !strings.Contains(o.Stdout, "aborts: good") {
		t.Errorf("a child aborts: %v", o)
	}
	o = cprogram.Run(t, cprogram.Tool("banyan"), "run", "--timeout", "50", "-n", "2", program, "both abort")
	if o.Code != 7 || strings.Contains(o.Stdout, "good") {
		t.Errorf("a child aborts the connection: %v", o)
	}
	for flag, code := range map[string]int{"auto": 137, "ulfm": 0} {
		o = cprogram.Run(t, cprogram.Tool("banyan"), "run", "--timeout", "50", "-n", "2", "--with-ft", flag, program, "unneeded")
		if o.Code != code || !strings.Contains(o.Stdout, "unneeded: good") || strings.Count(o.Stderr, "died: signal 9") != 1 {
			t.Errorf("a child that nobody needs dies, --with-ft %s: %v", flag, o)
		}
	}
	o = cprogram.Run(t, cprogram.Tool("banyan"), "run", "--timeout", "50", "-n", "3", program, "lost")
	if o.Code != 0 || !strings.Contains(o.Stdout, "lost: good") {
		t.Errorf("ranks spawn after a death: %v", o)
	}
	o = cprogram.Run(t, program, "parent dies")
	if !strings.Contains(o.Stdout, "orphan: good") {
		t.Errorf("the parent dies: %v", o)
	}
	o = cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "2", "--replicas", "2", program, "spawn")
	if o.Code != 1 || !strings.Contains(o.Stderr, "MPI_ERR_UNSUPPORTED_OPERATION") || !strings.Contains(o.Stderr, "each replica would connect, or spawn, for itself") {
		t.Errorf("with replicas: %v", o)
	}
}

// The size of the universe is the slots of the hosts, where these have numbers.
func TestUniverse(t *testing.T) {
	program := cprogram.Compile(t, "dynamic")
	for want, flags := range map[string][]string{"5\n": append(cprogram.OnHosts("a:4,b:1"), "-n", "3"), "2\n": {"-n", "2"}} {
		if o := cprogram.Run(t, cprogram.Tool("banyan"), append(append([]string{"run"}, flags...), program, "universe")...); o.Stdout != want || o.Code != 0 {
			t.Errorf("%v: %v, want %s", flags, o, want)
		}
	}
}

// A server publishes its port, and two jobs connect, one after the other.
func TestServer(t *testing.T) {
	program := cprogram.Compile(t, "dynamic")
	name := fmt.Sprintf("banyan test of %d", os.Getpid())
	var all sync.WaitGroup
	for _, x := range [][]string{{"server", "-n", "2"}, {"client", "-n", "1"}, {"client", "-n", "3", "--transport", "tcp"}} {
		all.Go(func() {
			args := append(append([]string{"run", "--timeout", "50"}, x[1:]...), program, x[0], name)
			if o := cprogram.Run(t, cprogram.Tool("banyan"), args...); o.Code != 0 || o.Stdout != x[0]+": good\n" {
				t.Errorf("%v: %v", x, o)
			}
		})
	}
	all.Wait()
}

// Fortran programs spawn, with lists of strings as arguments, by mpif.h and by mpi_f08.
func TestFortranSpawns(t *testing.T) {
	if _, err := exec.LookPath("gfortran"); err != nil {
		t.Skip("there is no gfortran")
	}
	for _, source := range []string{"spawn.f90", "spawn08.f90"} {
		program := cprogram.Build(t, "mpifort", "../../fortran/testdata/"+source)
		o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "--timeout", "50", "-n", "2", program)
		if o.Code != 0 || o.Stdout != "good\n" {
			t.Errorf("%s: %v", source, o)
		}
	}
}

// The example of two models exchanges what it should: together they keep their heat.
func TestCoupled(t *testing.T) {
	program := cprogram.Build(t, "mpicc", "../../examples/coupled/coupled.c")
	t.Setenv("COUPLED", fmt.Sprintf("coupled ocean of %d", os.Getpid()))
	var all sync.WaitGroup
	for _, x := range [][]string{{"2", "ocean"}, {"3", "atmosphere", "50"}} {
		all.Go(func() {
			o := cprogram.Run(t, cprogram.Tool("banyan"), append([]string{"run", "--timeout", "50", "-n", x[0], program}, x[1:]...)...)
			if o.Code != 0 || o.Stdout != x[1]+": 50 steps with 120 cells, mean temperature 14.000\n" {
				t.Errorf("%v: %v", x, o)
			}
		})
	}
	all.Wait()
}

// A spawned job is listed behind the one that has spawned it, as long as it runs.
func TestSpawnedJobsAreListed(t *testing.T) {
	program, dir := cprogram.Compile(t, "spawner"), t.TempDir()
	runtime := "XDG_RUNTIME_DIR=" + dir
	over := filepath.Join(dir, "over")
	ended := make(chan cprogram.Outcome, 1)
	go func() {
		ended <- cprogram.Run(t, "/usr/bin/env", runtime, cprogram.Tool("banyan"), "run", "-n", "1", program, over, "2")
	}()
	listed := func() string {
		o := cprogram.Run(t, "/usr/bin/env", runtime, cprogram.Tool("banyan"), "jobs")
		o.Fine(t)
		return o.Stdout
	}
	want := regexp.MustCompile(`(?m)^(spawner-\w+) +\d+s +\S+ .* 1 +1 +running +own\n(spawner-\w+)/1 +\d+s +\S+ .* 2 +1 +running +own\n(spawner-\w+)/1\.1 +\d+s +\S+ .* 1 +1 +running +own\n(spawner-\w+)/1\.2 `)
	list := ""
	for deadline := time.Now().Add(30 * time.Second); !want.MatchString(list); time.Sleep(20 * time.Millisecond) {
		if list = listed(); time.Now().After(deadline) {
			t.Errorf("the jobs that are listed:\n%s", list)
			break
		}
	}
	if err := os.WriteFile(over, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	(<-ended).Fine(t)
	if list := listed(); strings.Contains(list, "spawner") {
		t.Errorf("they have ended, and are listed:\n%s", list)
	}
}

// Requests for the flush of a buffer end when its messages have left, also those to another job,
// which has an engine of its own. Buffers are the process's, a communicator's and a session's.
func TestFlushes(t *testing.T) {
	program := cprogram.Compile(t, "flushes")
	for _, transport := range []string{"shm", "tcp"} {
		o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "--timeout", "50", "--transport", transport, "-n", "2", program)
		if o.Code != 0 || o.Stdout != "good\n" || o.Stderr != "" {
			t.Errorf("%s: %v", transport, o)
		}
	}
}
