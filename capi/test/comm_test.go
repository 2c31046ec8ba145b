package test

import (
	"fmt"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// A C program uses communicators, groups, attributes, info objects and errors: started alone, in a
// job, and with replicas.
func TestComm(t *testing.T) {
	program := cprogram.Compile(t, "comm")
	if o := cprogram.Run(t, program); o.Stdout != "last words of 0\n" {
		t.Errorf("alone: %v", o)
	} else {
		o.Fine(t)
	}
	for _, replicas := range []string{"1", "2"} {
		o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "4", "--replicas", replicas, program, replicas)
		o.Fine(t)
		for r := range 4 {
			if !strings.Contains(o.Stdout, fmt.Sprintf("last words of %d\n", r)) {
				t.Errorf("%s replicas: %v", replicas, o)
				break
			}
		}
	}
}

// The loss of a rank ends the job, unless the program has an error handler for it. Then calls that
// need the lost rank fail, and all others succeed.
func TestLoss(t *testing.T) {
	program := cprogram.Compile(t, "loss")
	o := cprogram.Job(t, 3, program, "fatal")
	if o.Code != 137 || !strings.Contains(o.Stderr, "rank 1 is lost") || strings.Contains(o.Stdout, "class") {
		t.Errorf("fatal: %v", o)
	}
	o.NoTrace(t)
	if tcp := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "3", "--transport", "tcp", program, "return"); tcp.Code != 0 {
		t.Errorf("over TCP, where broken connections bring SIGPIPE: %v", tcp)
	}
	for _, how := range []string{"return", "handler"} {
		o := cprogram.Job(t, 3, program, how)
		if o.Code != 0 || !strings.Contains(o.Stdout, "rank 0: class 16128\n") || !strings.Contains(o.Stdout, "rank 2: class 16128\n") ||
			!strings.Contains(o.Stdout, "heard 41\n") || !strings.Contains(o.Stderr, "the program goes on without it") {
			t.Errorf("%s: %v", how, o)
		}
		o.NoTrace(t)
	}
}
