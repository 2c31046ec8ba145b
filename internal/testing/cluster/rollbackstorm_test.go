package cluster_test

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"
)

var rollbacks = flag.Duration("rollbacks", 0, "how long jobs that go back are disturbed at random; 0: one job of each program")

// goingBack are the programs of TestRollbackStorm: in C, Go and Fortran, with what their processes
// are called.
var goingBack = []struct {
	name, process string
	argv          []string
}{
	{"heat in C", "heat", []string{"stdbuf", "-oL", "bin/heat", "64", "1e-30", "6000"}},
	{"cg in Go", "cg", []string{"bin/cg", "-every", "50", "-solves", "3", "examples/cg/data/bcsstk16.mtx.gz"}},
	{"a ring in Fortran", "heal-fortran", []string{"bin/heal-fortran", "8000", "1000"}},
}

// Processes on hosts are killed at random, those of one host, of several, in the middle of a
// snapshot and while the job goes back, and a host loses its power. The job prints what an
// undisturbed one prints, to the byte.
func TestRollbackStorm(t *testing.T) {
	if testing.Short() {
		t.Skip("TestRunRollsBack has some faults")
	}
	c := alone(t)
	if out, err := exec.Command(c.Root+"/bin/mpifort", "-O2", "-o", c.Root+"/bin/heal-fortran",
		c.Root+"/fortran/testdata/heal.f90").CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	begun, back := time.Now(), 0
	for number := 0; (number < len(goingBack) || time.Since(begun) < *rollbacks) && !t.Failed(); number++ {
		p := goingBack[number%len(goingBack)]
		t.Run(fmt.Sprintf("%d %s", number, p.name), func(t *testing.T) {
			lots := rand.New(rand.NewPCG(*stormSeed, uint64(number)))
			want := undisturbed(t, c, p.argv)
			g := slowly(t, c)
			j := start(t, c, command([]string{"bin/banyan", "run", "--host", "h0:2,h1:2,h2:2,h3:2", "--spare-hosts", "2", "-n", fmt.Sprint(ranks),
				"--rollback", "--snapshot-every", "300ms"}, g.program(p.argv))...)
			first, _, _ := strings.Cut(want, "\n")
			if p.process != "heal-fortran" { // it prints at its end
				j.await(first, 1)
			}
			cut := -1
			for range 1 + lots.IntN(5) {
				if !runsFor(j, time.Duration(300+lots.IntN(2500))*time.Millisecond) {
					break
				}
				switch k := lots.IntN(4); {
				case cut < 0 && lots.IntN(6) == 0:
					cut = k
					c.Fault(t, fmt.Sprintf("power %d", k))
					runsFor(j, 10*time.Second) // until another host has its buddy's copies
				default:
					hosts := lots.Perm(4)[:1+lots.IntN(2)]
					for _, k := range slices.DeleteFunc(hosts, func(k int) bool { return k == cut }) {
						c.Fault(t, fmt.Sprintf("on %d pkill -KILL -x %s || true", k, p.process))
					}
				}
			}
			g.open()
			j.finish()
			if got := j.printed(); got != want {
				t.Errorf("seed %d: it printed\n%s\nand undisturbed\n%s\nit said %s", *stormSeed, got, want, j.complained())
			}
			said := j.complained()
			back += strings.Count(said, "it goes back to snapshot ")
			if strings.Contains(said, "other bytes to stdout") {
				t.Errorf("seed %d: it said %s", *stormSeed, said)
			}
			if cut >= 0 {
				c.Fault(t, fmt.Sprintf("boot %d", cut))
			}
			nothingLeft(t, c)
		})
	}
	t.Logf("jobs went back to a snapshot %d times in %v, seed %d", back, time.Since(begun).Round(time.Second), *stormSeed)
	if back == 0 && !t.Failed() {
		t.Error("no job went back to a snapshot")
	}
}

// runsFor waits, and says whether a job still runs.
func runsFor(j *running, d time.Duration) bool {
	select {
	case <-j.ended:
		return false
	case <-time.After(d):
		return true
	}
}
