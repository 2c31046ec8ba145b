package lane

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/job/env"
	"banyan/internal/testing/cprogram"
	"banyan/internal/testing/explore"
)

// The program checks that a send is cancelled or received, and that the wait for one that is
// cancelled needs nothing of the receiver's program: with the lane open and closed, between hosts'
// transports, with threads, and between two jobs.
func TestCancelSends(t *testing.T) {
	program, rounds := cprogram.Compile(t, "cancel"), "420"
	if explore.Long() {
		rounds = "42000"
	}
	for _, lane := range []string{env.Entry(env.Lane, ""), laneOff} {
		for _, with := range []string{"--transport shm|all", "--transport tcp|all", "--transport shm|threads", "--transport shm|spawn"} {
			options, kind, _ := strings.Cut(with, "|")
			n := "2"
			if kind == "spawn" {
				n = "1"
			}
			args := append([]string{lane, cprogram.Tool("banyan"), "run", "-n", n}, strings.Fields(options)...)
			t.Run(with+" "+lane, func(t *testing.T) {
				cprogram.Run(t, "/usr/bin/env", append(args, program, kind, filepath.Join(t.TempDir(), "over"), rounds)...).Fine(t)
			})
		}
	}
}

// The receiver is stopped, so that it doesn't answer, and killed: the wait ends.
func TestCancelSendsKill(t *testing.T) {
	program := cprogram.Compile(t, "cancel")
	for mode := range 3 { // standard, synchronous, buffered
		for _, size := range []int{8, 5000, 70000} {
			o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "2", "--with-ft", "ulfm", program, "dies", filepath.Join(t.TempDir(), "pid"), fmt.Sprint(mode), fmt.Sprint(size))
			o.NoTrace(t)
			if !strings.Contains(o.Stdout, "survives") || strings.Contains(o.Stderr, "not so") {
				t.Errorf("mode %d, %d bytes: %v", mode, size, o)
			}
		}
	}
}

// Jobs with replicas cancel no send, in whatever order they run.
func TestCancelSendsWithReplicas(t *testing.T) {
	program := cprogram.Compile(t, "cancel")
	for _, options := range []string{"", "--order leader", "--protocol mirror"} {
		args := append([]string{"run", "-n", "2", "--replicas", "2"}, strings.Fields(options)...)
		cprogram.Run(t, cprogram.Tool("banyan"), append(args, program, "never", "-")...).Fine(t)
	}
}
