package lane

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"banyan/internal/job/env"
	"banyan/internal/testing/cprogram"
	"banyan/internal/testing/explore"
)

// laneOff leaves every message to Go.
var laneOff = env.Entry(env.Lane, env.LaneOff)

// lanes is how many random programs of each kind TestLane runs, and how many ranks TestLaneKill
// kills: make soak says more.
var lanes = flag.Int("lanes", 3, "random programs with the lane open and closed")

// Random programs do the same with the lane and without it: their output has a sum over all that
// they received.
func TestLane(t *testing.T) {
	program := cprogram.Compile(t, "lane")
	const jobs = 3 // at least
	each := min(max(*lanes/jobs, 1), 100)
	for _, kind := range []string{"plain", "threads", "signals", "forks"} {
		for k := range (*lanes + each - 1) / each {
			n := []int{2, 3, 2, 4, 2, 8}[k%6]
			args := []string{"run", "-n", fmt.Sprint(n), program, kind, fmt.Sprint(k * each), fmt.Sprint(each)}
			open := cprogram.Run(t, cprogram.Tool("banyan"), args...)
			closed := cprogram.Run(t, "/usr/bin/env", append([]string{laneOff, cprogram.Tool("banyan")}, args...)...)
			open.Fine(t)
			closed.Fine(t)
			if a, b := cprogram.Sorted(open.Stdout), cprogram.Sorted(closed.Stdout); a != b || strings.Count(a, "sum") < n*each {
				t.Fatalf("%s from %d on, %d ranks: with the lane\n%s\nwithout it\n%s", kind, k*each, n, a, b)
			}
		}
	}
}

// Receives that C notes do the same as those that Go posts at once, in all that a program can do
// with their requests.
func TestLaneNotes(t *testing.T) {
	program, rounds := cprogram.Compile(t, "notes"), "6"
	if explore.Long() {
		rounds = "20"
	}
	for _, lane := range []string{env.Entry(env.Lane, ""), laneOff} {
		cprogram.Run(t, "/usr/bin/env", lane, cprogram.Tool("banyan"), "run", "-n", "2", program, filepath.Join(t.TempDir(), "sent"), rounds).Fine(t)
	}
}

// A rank dies in the midst of messages, at any moment: the survivors get what was sent before it
// died, whole and in order, and then an error, with the lane as without it.
func TestLaneKill(t *testing.T) {
	program := cprogram.Compile(t, "lane")
	for seed := range min(max(*lanes, 1), 1000) {
		for _, lane := range []string{env.Entry(env.Lane, ""), laneOff} {
			o := cprogram.Run(t, "/usr/bin/env", lane, cprogram.Tool("banyan"), "run", "-n", "3", program, "kill", fmt.Sprint(seed))
			o.NoTrace(t)
			if n := strings.Count(o.Stdout, "survives"); n != 2 || strings.Contains(o.Stderr, "not so") {
				t.Fatalf("seed %d, %s: %d ranks survive\n%v", seed, lane, n, o)
			}
		}
	}
}

// The C of the lane and a model of Go's side, under ThreadSanitizer.
func TestLaneModel(t *testing.T) {
	model := compileModel(t, cprogram.Source("capi"))
	messages, seeds := 1500, 2
	if explore.Long() {
		messages, seeds = 50000, 20
	}
	const most = 20 // runs: one may leave a way out, since time decides which are taken
	var used [2][5]bool
	all := [2][5]bool{{true, true, true, true, true}, {true, true, true, true, true}}
	for seed := 0; seed < seeds || used != all && seed < most; seed++ {
		o := cprogram.Run(t, model, fmt.Sprint(messages), fmt.Sprint(seed))
		if o.Code != 0 {
			t.Fatalf("seed %d: %v", seed, o)
		}
		ways := regexp.MustCompile(`(\d+) by the lane, (\d+) by notes, (\d+) by Go, (\d+) sent by the lane, (\d+) given back`).FindAllStringSubmatch(o.Stdout, -1)
		if len(ways) != 2 {
			t.Fatalf("seed %d: %v", seed, o)
		}
		for process, way := range ways {
			for k, number := range way[1:] {
				if n, _ := strconv.Atoi(number); n > 0 {
					used[process][k] = true
				}
			}
		}
	}
	if used != all {
		t.Errorf("not all ways were used (lane, notes, Go, sent, given back; of two processes): %v", used)
	}
}

// ThreadSanitizer finds a frame that is published, and a lock that is given up, without an order;
// and the model finds a message that goes to the youngest note.
func TestLaneModelCanaries(t *testing.T) {
	const race = "data race"
	for name, weaken := range map[string][3]string{
		"the publishing store": {"__atomic_store_n((uint64_t *)record, word, __ATOMIC_SEQ_CST)", "__atomic_store_n((uint64_t *)record, word, __ATOMIC_RELAXED)", race},
		"the lock's release":   {"__atomic_sub_fetch(&m->word, LANE_HELD, __ATOMIC_ACQ_REL)", "__atomic_sub_fetch(&m->word, LANE_HELD, __ATOMIC_RELAXED)", race},
		"the order of notes":   {"(uint32_t k = all->table[LANE_NOTES].younger;; k = n->younger)", "(uint32_t k = all->table[LANE_NOTES].older;; k = n->older)", "out of order"},
	} {
		root := t.TempDir()
		capi := filepath.Join(root, "capi")
		weakened := false
		for _, file := range []string{"capi/lane.c", "capi/lane_request.c", "capi/lane.h", "capi/lane_frame.h", "capi/lane_owner.h", "capi/lane_ring.h", "capi/lane_type.h", "capi/lane_layout.h", "abi/mpi.h"} {
			text, err := os.ReadFile(cprogram.Source(file))
			if err == nil {
				weakened = weakened || strings.Contains(string(text), weaken[0])
				to := filepath.Join(root, file)
				err = errors.Join(os.MkdirAll(filepath.Dir(to), 0o755), os.WriteFile(to, []byte(strings.Replace(string(text), weaken[0], weaken[1], 1)), 0o644))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if !weakened {
			t.Fatalf("%s: it isn't there", name)
		}
		o := cprogram.Run(t, "/usr/bin/env", "TSAN_OPTIONS=halt_on_error=1", compileModel(t, capi), "1500", "0")
		if o.Code == 0 || !strings.Contains(o.Stderr, weaken[2]) {
			t.Errorf("%s is weak, and nobody notices: %v", name, o)
		}
	}
}

// compileModel compiles the model with the lane of a directory.
func compileModel(t *testing.T, lane string) (program string) {
	t.Helper()
	if text, err := exec.Command("gcc", "-print-file-name=libtsan.so").Output(); err != nil || !filepath.IsAbs(strings.TrimSpace(string(text))) {
		t.Skip("gcc has no ThreadSanitizer here")
	}
	out := filepath.Join(t.TempDir(), "lanemodel")
	var commands [][]string
	link := []string{"-o", out, cprogram.Testdata("lanemodel.c")}
	for _, file := range []string{"lane", "lane_request"} {
		source, object := filepath.Join(lane, file+".c"), filepath.Join(filepath.Dir(out), file)
		peer := []string{"-c", source, "-o", object + "1.o"}
		for _, name := range []string{"", "_open", "_close", "_send", "_start_send", "_receive", "_probe", "_note", "_end", "_end_some", "_await", "_rouse", "_released"} {
			peer = append(peer, fmt.Sprintf("-Dbanyan_lane%s=peer%s", name, name))
		}
		commands = append(commands, []string{"-c", source, "-o", object + "0.o"}, peer)
		link = append(link, object+"0.o", object+"1.o")
	}
	for _, args := range append(commands, link) {
		args = append([]string{"-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-fsanitize=thread", "-pthread", "-I" + lane}, args...)
		if text, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("gcc %v: %v\n%s", args, err, text)
		}
	}
	return out
}
