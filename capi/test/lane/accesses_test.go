package lane

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/job/env"
	"banyan/internal/testing/cprogram"
	"banyan/internal/testing/explore"
)

// Random programs of one-sided communication do the same with the way in C and without it: their
// output has a sum over all that they fetched and over their windows. What all add is all there.
func TestAccesses(t *testing.T) {
	program, each := cprogram.Compile(t, "accesses"), "2"
	kinds := map[string][]string{"plain": {"1", "2", "3", "4"}, "threads": {"2", "3"}}
	if explore.Long() {
		each = "40"
	}
	for kind, sizes := range kinds {
		for seed, n := range sizes {
			args := []string{"run", "-n", n, program, kind, fmt.Sprint(1000 * seed), each}
			open := cprogram.Run(t, cprogram.Tool("banyan"), args...)
			closed := cprogram.Run(t, "/usr/bin/env", append([]string{laneOff, cprogram.Tool("banyan")}, args...)...)
			open.Fine(t)
			closed.Fine(t)
			if a, b := cprogram.Sorted(open.Stdout), cprogram.Sorted(closed.Stdout); a != b || !strings.Contains(a, "sum") {
				t.Errorf("%s with %s ranks: with the lane\n%s\nwithout it\n%s", kind, n, a, b)
			}
		}
	}
}

// A rank dies anywhere in its accumulates, its epochs of locks, or its epochs of MPI_Win_post and
// MPI_Win_start: nobody waits for what it has left in common memory.
func TestAccessesKill(t *testing.T) {
	program := cprogram.Compile(t, "accesses")
	for seed := range min(max(*lanes, 1), 1000) {
		for _, kind := range []string{"kill", "kill-lock", "kill-pair"} {
			for _, lane := range []string{env.Entry(env.Lane, ""), laneOff} {
				o := cprogram.Run(t, "/usr/bin/env", lane, cprogram.Tool("banyan"), "run", "-n", "3", program, kind, fmt.Sprint(seed))
				o.NoTrace(t)
				if n := strings.Count(o.Stdout, "survives"); n != 2 || strings.Contains(o.Stderr, "not so") {
					t.Fatalf("%s, seed %d, %s: %d ranks survive\n%v", kind, seed, lane, n, o)
				}
			}
		}
	}
}

// Processes on one host share a window's memory also if their messages go by sockets.
func TestAccessesTCP(t *testing.T) {
	program := cprogram.Compile(t, "accesses")
	for _, kind := range []string{"plain", "threads"} {
		for _, lane := range []string{env.Entry(env.Lane, ""), laneOff} {
			cprogram.Run(t, "/usr/bin/env", lane, cprogram.Tool("banyan"), "run", "-n", "3", "--transport", "tcp", program, kind, "7", "2").Fine(t)
		}
	}
}

// mistakeTries is how often a mistake is tried at most: it shows only where threads meet, which
// they do seldom on a busy machine.
const mistakeTries = 10

// modelMistake is a change of a header that a model is to notice.
type modelMistake struct{ name, from, to string }

// The turns of accumulates under ThreadSanitizer, as they are and with mistakes.
func TestTurnModel(t *testing.T) {
	modelled(t, "lane_turn.h", "turnmodel.c", []modelMistake{
		{"who is alone ends without an order", "__atomic_store_n(turn_of(w, part), 0, __ATOMIC_RELEASE)", "__atomic_store_n(turn_of(w, part), 0, __ATOMIC_RELAXED)"},
		{"who is among others ends without an order", "1, __ATOMIC_RELEASE)", "1, __ATOMIC_RELAXED)"},
		{"the turn is taken without an order", "false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)", "false, __ATOMIC_RELAXED, __ATOMIC_RELAXED)"},
		{"the counts aren't looked at", "member < w->members", "member < 0"},
		{"the turn isn't looked at again", "__atomic_load_n(turn, __ATOMIC_SEQ_CST) != 0", "0"},
	})
}

// So are locks, and the counts of events.
func TestLockModel(t *testing.T) {
	modelled(t, "lane_lock.h", "lockmodel.c", []modelMistake{
		{"who was alone unlocks without an order", "__atomic_store_n(lock_of(w, part), 0, __ATOMIC_RELEASE)", "__atomic_store_n(lock_of(w, part), 0, __ATOMIC_RELAXED)"},
		{"who shared unlocks without an order", "LANE_SHARES, part), 0, __ATOMIC_RELEASE)", "LANE_SHARES, part), 0, __ATOMIC_RELAXED)"},
		{"who wants to be alone doesn't look who shares", "member < w->members", "member < 0"},
		{"who wants to be alone forgets those that share all", " || shares(w, member, w->members)", ""},
		{"who shares doesn't look again", "__atomic_load_n(word, __ATOMIC_SEQ_CST) != 0", "0"},
		{"who shares all doesn't look", "__atomic_load_n(lock_of(w, part), __ATOMIC_SEQ_CST) != 0", "0"},
		{"events are counted without an order", "LOAD(count) + 1, __ATOMIC_SEQ_CST", "LOAD(count) + 1, __ATOMIC_RELAXED"},
		{"events are seen without an order", "event, w->self), __ATOMIC_ACQUIRE", "event, w->self), __ATOMIC_RELAXED"},
	})
}

// modelled runs a model of what a header does under ThreadSanitizer, as it is and with mistakes.
func modelled(t *testing.T, header, program string, mistakes []modelMistake) {
	t.Helper()
	if text, err := exec.Command("gcc", "-print-file-name=libtsan.so").Output(); err != nil || !filepath.IsAbs(strings.TrimSpace(string(text))) {
		t.Skip("gcc has no ThreadSanitizer here")
	}
	for _, c := range append([]modelMistake{{"as it is", "", ""}}, mistakes...) {
		source, err := os.ReadFile(cprogram.Source("capi", header))
		if err != nil {
			t.Fatal(err)
		}
		text := strings.Replace(string(source), c.from, c.to, 1)
		if c.from != "" && text == string(source) {
			t.Fatalf("%s: it isn't there", c.name)
		}
		dir := t.TempDir()
		model, out := filepath.Join(dir, program), filepath.Join(dir, "model")
		code, err := os.ReadFile(cprogram.Testdata(program))
		if err != nil {
			t.Fatal(err)
		}
		text = strings.NewReplacer(`"../abi`, `"`+cprogram.Source("abi"), `"lane_owner.h"`, `"`+cprogram.Source("capi", "lane_owner.h")+`"`).Replace(text)
		for name, content := range map[string]string{model: string(code), filepath.Join(dir, header): text} {
			if err := os.WriteFile(name, []byte(content), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		args := []string{"-std=gnu11", "-O1", "-g", "-Wall", "-Werror", "-fsanitize=thread", "-pthread", "-I" + dir, "-I" + cprogram.Source("capi"), "-o", out, model}
		if text, err := exec.Command("gcc", args...).CombinedOutput(); err != nil {
			t.Fatalf("gcc: %v\n%s", err, text)
		}
		tries := 1
		if c.from != "" {
			tries = mistakeTries
		}
		o := cprogram.Outcome{}
		for ; tries > 0 && o.Code == 0; tries-- {
			o = cprogram.Run(t, "/usr/bin/env", "TSAN_OPTIONS=halt_on_error=1", out, "3000")
		}
		if c.from == "" && o.Code != 0 {
			t.Errorf("%v", o)
		}
		if c.from != "" && (o.Code == 0 || !strings.Contains(o.Stderr, "data race")) {
			t.Errorf("%s, and nobody notices: %v", c.name, o)
		}
	}
}
