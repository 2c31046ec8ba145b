package recovery

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"banyan/internal/testing/cprogram"
)

var ledHeals = flag.Int("ledheals", 0, "how many jobs of each kind TestLedHeals runs; 0: one of each with threads")

// isBack is what a launcher says of a replica that has been replaced.
var isBack = regexp.MustCompile(`rank (\d): replica \d is back .* with the state of replica (\d)`)

// donorsKiller is the stderr of a launcher. It kills the donor of each replacement a moment after
// that is back.
type donorsKiller struct {
	of     *exec.Cmd
	ranks  int
	rng    *rand.Rand
	left   int // how many it kills
	said   bytes.Buffer
	backs  int
	kills  sync.WaitGroup
	killed int
}

func (k *donorsKiller) Write(b []byte) (int, error) {
	for _, m := range isBack.FindAllSubmatch(b, -1) {
		k.backs++
		if k.left--; k.left < 0 {
			continue
		}
		k.killed++
		number, after := k.ranks*int(m[2][0]-'0')+int(m[1][0]-'0'), time.Duration(k.rng.Int64N(10e6))
		k.kills.Go(func() {
			time.Sleep(after)
			if pid := childOf(k.of.Process.Pid, number); pid > 0 {
				syscall.Kill(pid, syscall.SIGKILL)
			}
		})
	}
	return k.said.Write(b)
}

// childOf is the process with a number, the child of a launcher on this host; 0 if there is none.
func childOf(launcher, number int) int {
	children, _ := filepath.Glob(fmt.Sprintf("/proc/%d/task/*/children", launcher))
	for _, name := range children {
		pids, _ := os.ReadFile(name)
		for pid := range strings.FieldsSeq(string(pids)) {
			env, _ := os.ReadFile("/proc/" + pid + "/environ")
			if bytes.Contains(env, fmt.Appendf(nil, "PMI_RANK=%d\x00", number)) {
				n, _ := strconv.Atoi(pid)
				return n
			}
		}
	}
	return 0
}

// Replicas of programs that aren't send-deterministic are replaced, also of programs of several
// threads: those that are created between safe points, and a pool that outlives them. The donor of
// each replacement is killed soon after. All replicas send the same and print the same.
func TestLedHeals(t *testing.T) {
	program := cprogram.Compile(t, "led")
	phases, kinds, runs, kills := 60, []string{"threads", "pool"}, 1, 4
	if *ledHeals > 0 {
		phases, kinds, runs, kills = 150, []string{"threads", "pool", "farm", "bound", "balance"}, *ledHeals, 12
	}
	for _, name := range kinds {
		t.Run(name, func(t *testing.T) {
			healed, killed := 0, 0
			for seed := range runs {
				degree := 2 + seed%2
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
				args := []string{"run", "-n", "4", "--replicas", fmt.Sprint(degree), "--heal", "--order", "leader", "--verify", "--timeout", "170",
					"--fault", fmt.Sprintf("random count=2 within=send:300 seed=%d action=kill", seed), program, name, "60", fmt.Sprint(phases)}
				cmd := exec.CommandContext(ctx, cprogram.Tool("banyan"), args...)
				var stdout bytes.Buffer
				stderr := &donorsKiller{of: cmd, ranks: 4, rng: rand.New(rand.NewPCG(uint64(seed), 0)), left: kills}
				cmd.Stdout, cmd.Stderr = &stdout, stderr
				cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
				cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
				cmd.WaitDelay = time.Second
				err := cmd.Run()
				cancel()
				stderr.kills.Wait()
				if err != nil || strings.Count(stdout.String(), name+" ") != phases || strings.Contains(stderr.said.String(), "differ") {
					t.Fatalf("%s, seed %d: %v\n%.3000s\n%.5000s", name, seed, err, stdout.String(), stderr.said.String())
				}
				healed, killed = healed+stderr.backs, killed+stderr.killed
			}
			if t.Logf("%s: %d jobs, %d replaced, %d donors killed", name, runs, healed, killed); healed == 0 {
				t.Errorf("%s: no replica was replaced", name)
			}
		})
	}
}
