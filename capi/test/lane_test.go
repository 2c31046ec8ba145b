package test

import (
	"flag"
	"fmt"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"banyan/internal/job/env"
	"banyan/internal/testing/explore"
)

// laneOff leaves every message to Go.
var laneOff = env.Entry(env.Lane, env.LaneOff)

// lanes is how many random programs of each kind TestLane runs, and how many ranks TestLaneKill
// kills: make soak says more.
var lanes = flag.Int("lanes", 12, "random programs with the lane open and closed")

// Random programs do the same with the lane and without it: their output has a sum over all that
// they received.
func TestLane(t *testing.T) {
	program := compile(t, "lane")
	const jobs = 3 // at least
	each := min(max(*lanes/jobs, 1), 100)
	for _, kind := range []string{"plain", "threads", "signals", "forks"} {
		for k := range (*lanes + each - 1) / each {
			n := []int{2, 3, 2, 4, 2, 8}[k%6]
			args := []string{"run", "-n", fmt.Sprint(n), program, kind, fmt.Sprint(k * each), fmt.Sprint(each)}
			open := run(t, tool("banyan"), args...)
			closed := run(t, "/usr/bin/env", append([]string{laneOff, tool("banyan")}, args...)...)
			open.fine(t)
			closed.fine(t)
			if a, b := sorted(open.stdout), sorted(closed.stdout); a != b || strings.Count(a, "sum") < n*each {
				t.Fatalf("%s from %d on, %d ranks: with the lane\n%s\nwithout it\n%s", kind, k*each, n, a, b)
			}
		}
	}
}

// sorted are the lines of a text in order: ranks print when they like.
func sorted(text string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// A rank dies in the midst of messages, at any moment: the survivors get what was sent before it
// died, whole and in order, and then an error, with the lane as without it.
func TestLaneKill(t *testing.T) {
	program := compile(t, "lane")
	for seed := range min(max(*lanes/4, 1), 1000) {
		for _, lane := range []string{env.Entry(env.Lane, ""), laneOff} {
			o := run(t, "/usr/bin/env", lane, tool("banyan"), "run", "-n", "3", program, "kill", fmt.Sprint(seed))
			o.noTrace(t)
			if n := strings.Count(o.stdout, "survives"); n != 2 || strings.Contains(o.stderr, "not so") {
				t.Fatalf("seed %d, %s: %d ranks survive\n%v", seed, lane, n, o)
			}
		}
	}
}

// The C of the lane and a model of Go's side, under ThreadSanitizer.
func TestLaneModel(t *testing.T) {
	out := filepath.Join(t.TempDir(), "lanemodel")
	build := func(args ...string) error {
		text, err := exec.Command("gcc", append([]string{"-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-fsanitize=thread", "-pthread", "-I.."}, args...)...).CombinedOutput()
		if err != nil {
			return fmt.Errorf("gcc %v: %v\n%s", args, err, text)
		}
		return nil
	}
	if text, err := exec.Command("gcc", "-print-file-name=libtsan.so").Output(); err != nil || !filepath.IsAbs(strings.TrimSpace(string(text))) {
		t.Skip("gcc has no ThreadSanitizer here")
	}
	peer := []string{"-c", "../lane.c", "-o", out + "1.o"}
	for _, name := range []string{"", "_open", "_close", "_send", "_receive", "_probe", "_sent", "_released"} {
		peer = append(peer, fmt.Sprintf("-Dbanyan_lane%s=peer%s", name, name))
	}
	for _, args := range [][]string{
		{"-c", "../lane.c", "-o", out + "0.o"}, peer,
		{"-o", out, "testdata/lanemodel.c", out + "0.o", out + "1.o"},
	} {
		if err := build(args...); err != nil {
			t.Fatal(err)
		}
	}
	messages, seeds := 1500, 1
	if explore.Long() {
		messages, seeds = 50000, 20
	}
	for seed := range seeds {
		o := run(t, out, fmt.Sprint(messages), fmt.Sprint(seed))
		if o.code != 0 {
			t.Fatalf("seed %d: %v", seed, o)
		}
		for _, way := range regexp.MustCompile(`(\d+) by the lane, (\d+) by Go, (\d+) sent`).FindAllStringSubmatch(o.stdout, -1) {
			for _, number := range way[1:] {
				if n, _ := strconv.Atoi(number); n == 0 {
					t.Errorf("seed %d: not all ways were used:\n%s", seed, o.stdout)
				}
			}
		}
	}
}
