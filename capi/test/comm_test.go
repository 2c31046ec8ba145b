package test

import (
	"fmt"
	"strings"
	"testing"
)

// A C program uses communicators, groups, attributes, info objects and errors: started alone, in a
// job, and with replicas.
func TestComm(t *testing.T) {
	program := compile(t, "comm")
	if o := run(t, program); o.stdout != "last words of 0\n" {
		t.Errorf("alone: %v", o)
	} else {
		o.fine(t)
	}
	for _, replicas := range []string{"1", "2"} {
		o := run(t, tool("banyan"), "run", "-n", "4", "--replicas", replicas, program, replicas)
		o.fine(t)
		for r := range 4 {
			if !strings.Contains(o.stdout, fmt.Sprintf("last words of %d\n", r)) {
				t.Errorf("%s replicas: %v", replicas, o)
				break
			}
		}
	}
}

// The loss of a rank ends the job, unless the program has an error handler for it. Then calls that
// need the lost rank fail, and all others succeed.
func TestLoss(t *testing.T) {
	program := compile(t, "loss")
	o := job(t, 3, program, "fatal")
	if o.code != 137 || !strings.Contains(o.stderr, "rank 1 is lost") || strings.Contains(o.stdout, "class") {
		t.Errorf("fatal: %v", o)
	}
	o.noTrace(t)
	if tcp := run(t, tool("banyan"), "run", "-n", "3", "--transport", "tcp", program, "return"); tcp.code != 0 {
		t.Errorf("over TCP, where broken connections bring SIGPIPE: %v", tcp)
	}
	for _, how := range []string{"return", "handler"} {
		o := job(t, 3, program, how)
		if o.code != 0 || !strings.Contains(o.stdout, "rank 0: class 16128\n") || !strings.Contains(o.stdout, "rank 2: class 16128\n") ||
			!strings.Contains(o.stdout, "heard 41\n") || !strings.Contains(o.stderr, "the program goes on without it") {
			t.Errorf("%s: %v", how, o)
		}
		o.noTrace(t)
	}
}
