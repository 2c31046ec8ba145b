package survival

import (
	"flag"
	"fmt"
	"os/exec"
	"regexp"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

var leds = flag.Int("leds", 1, "how many jobs of each kind TestLed runs")

// Programs that aren't send-deterministic run in leader order, with processes killed at random: all
// replicas send the same (--verify) and print the same, and the job ends.
func TestLed(t *testing.T) {
	program := cprogram.Compile(t, "led")
	for name, says := range map[string]string{"farm": `^farm 1770 1 [0-9a-f]+\n$`, "bound": `^bound \d+ [0-9a-f]+\n$`, "balance": `^balance [0-9a-f]+\n$`, "threads": `^threads [0-9a-f]+\n$`} {
		t.Run(name, func(t *testing.T) {
			for seed := range *leds {
				for _, degree := range []int{2, 3} {
					plan := fmt.Sprintf("random count=%d within=send:60 seed=%d action=kill", 3*(degree-1), 10*seed+degree)
					o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "4", "--replicas", fmt.Sprint(degree), "--order", "leader", "--verify",
						"--fault", plan, "--timeout", "60", program, name)
					if o.Code != 0 || !regexp.MustCompile(says).MatchString(o.Stdout) || strings.Contains(o.Stderr, "different bytes") || strings.Contains(o.Stderr, "differs") {
						t.Fatalf("--replicas %d --fault %q: %v", degree, plan, o)
					}
				}
			}
		})
	}
}

// A program that depends on something else ends with an error that says so, and at which line.
func TestLedDiffers(t *testing.T) {
	o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "2", "--replicas", "2", "--order", "leader", cprogram.Compile(t, "led"), "differ")
	if o.Code == 0 || !strings.Contains(o.Stderr, "the program depends on something that leader order doesn't decide") ||
		!regexp.MustCompile(`called at led\.c:1[89]\d`).MatchString(o.Stderr) {
		t.Error(o)
	}
}

// With --order auto a rank is led from its first call on that timing can decide, and the launcher
// says which call that was. A program without such calls is led nowhere.
func TestLedAuto(t *testing.T) {
	program := cprogram.Compile(t, "led")
	for name, says := range map[string]string{"farm": `banyan: rank \d .*: timing decides what comes of that, .* \(--order auto\)`, "balance": `asks for the time \(called at led\.c:\d+\)`, "plain": ``} {
		o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "4", "--replicas", "2", "--order", "auto", "--verify",
			"--fault", "random count=3 within=send:60 seed=1 action=kill", "--timeout", "60", program, name)
		if o.Code != 0 || !strings.HasPrefix(o.Stdout, name+" ") || strings.Count(o.Stdout, "\n") != 1 || strings.Contains(o.Stderr, "different bytes") {
			t.Errorf("%s: %v", name, o)
		}
		if says == "" && strings.Contains(o.Stderr, "--order auto") || !regexp.MustCompile(says).MatchString(o.Stderr) {
			t.Errorf("%s: the launcher says %q", name, o.Stderr)
		}
	}
}

// Threads that the program hasn't asked for aren't ordered: the job ends with an error.
func TestLedUnasked(t *testing.T) {
	o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "2", "--replicas", "2", "--order", "leader", "--timeout", "20", cprogram.Compile(t, "led"), "unasked")
	if o.Code == 0 || !strings.Contains(o.Stderr, "several threads of the program communicate at the same time, which it hasn't asked for") {
		t.Error(o)
	}
}

// With --order auto a program that asks for threads stays in free order.
func TestLedAutoThreads(t *testing.T) {
	o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "2", "--replicas", "2", "--order", "auto", "--timeout", "20", cprogram.Compile(t, "led"), "calm")
	if o.Code != 0 || strings.Contains(o.Stderr, "--order auto") || o.Stdout != "calm\n" {
		t.Error(o)
	}
}

// Threads of OpenMP and of C++ have names, too.
func TestLedOpenMP(t *testing.T) {
	program := cprogram.Build(t, "mpicxx", "../testdata/ledthreads.cc", "-g", "-fopenmp")
	for seed := range *leds {
		for _, degree := range []int{2, 3} {
			plan := fmt.Sprintf("random count=3 within=send:40 seed=%d action=kill", 10*seed+degree)
			o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "3", "--replicas", fmt.Sprint(degree), "--order", "leader", "--verify", "--fault", plan, "--timeout", "60", program)
			if o.Code != 0 || !strings.HasPrefix(o.Stdout, "threads ") || strings.Contains(o.Stderr, "differ") {
				t.Fatalf("--replicas %d --fault %q: %v", degree, plan, o)
			}
		}
	}
}

// Clocks, random numbers and process ids are the same in all replicas, also where a signal handler,
// another thread and malloc ask for them, too.
func TestLedClock(t *testing.T) {
	program := cprogram.Compile(t, "ledclock")
	ticking := cprogram.Compile(t, "tickingmalloc", "-shared", "-fPIC")
	for seed := range *leds {
		for _, degree := range []int{2, 3} {
			for _, preload := range []string{"LD_PRELOAD=", "LD_PRELOAD=" + ticking} {
				plan := fmt.Sprintf("random count=%d within=send:60 seed=%d action=kill", 2*(degree-1), 10*seed+degree)
				o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "3", "--replicas", fmt.Sprint(degree), "--order", "leader,clock", "--verify",
					"--fault", plan, "--timeout", "60", "env", preload, program)
				if o.Code != 0 || !regexp.MustCompile(`^ledclock [0-9a-f]+\n$`).MatchString(o.Stdout) || strings.Contains(o.Stderr, "differ") {
					t.Fatalf("--replicas %d --fault %q, %s: %v", degree, plan, preload, o)
				}
			}
		}
	}
}

// The same in Fortran, whose library asks for them.
func TestLedClockFortran(t *testing.T) {
	if _, err := exec.LookPath("gfortran"); err != nil {
		t.Skip("there is no gfortran; scripts/tools.sh installs it")
	}
	program := cprogram.Build(t, "mpifort", "../../../fortran/testdata/ledclock.f90")
	for seed := range *leds {
		plan := fmt.Sprintf("random count=2 within=send:20 seed=%d action=kill", seed+1)
		o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "2", "--replicas", "3", "--order", "leader,clock", "--verify", "--fault", plan, "--timeout", "60", program)
		if o.Code != 0 || !strings.HasPrefix(o.Stdout, "ledclock ") || strings.Contains(o.Stderr, "differ") {
			t.Fatalf("--fault %q: %v", plan, o)
		}
	}
}

// Without the option they are each process's own: replicas differ.
func TestLedNoClock(t *testing.T) {
	o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "3", "--replicas", "2", "--order", "leader", "--verify", "--timeout", "60", cprogram.Compile(t, "ledclock"))
	if o.Code == 0 {
		t.Error(o)
	}
}

// A program whose calls of clocks don't come to the library, which was loaded late, is refused.
func TestLedClockLate(t *testing.T) {
	o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "1", "--replicas", "2", "--order", "leader,clock", "--timeout", "60", cprogram.Compile(t, "late", "-ldl"), cprogram.Library())
	if o.Code == 0 || !strings.Contains(o.Stderr, "which was loaded before it") {
		t.Error(o)
	}
}
