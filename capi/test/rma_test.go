package test

import (
	"strings"
	"testing"
)

// onHosts are flags of a job whose ranks believe that they are on different hosts, so that they
// share no memory.
func onHosts(list string) []string {
	return []string{"--host", list, "--launch-agent", "env H={host} {agent}"}
}

// All of one-sided communication, on windows of all kinds: within a host, by sockets, and between
// hosts.
func TestRma(t *testing.T) {
	program := compile(t, "rma")
	for _, flags := range [][]string{
		{"-n", "1"}, {"-n", "3"}, {"-n", "4"}, {"-n", "2", "--transport", "tcp"}, onHosts("a:1,b:1"), onHosts("a:2,b:1"),
	} {
		t.Run(strings.Join(flags[:2], " "), func(t *testing.T) {
			run(t, tool("banyan"), append(append([]string{"run"}, flags...), program)...).fine(t)
		})
	}
}

// With replicas the same program gives the same results as without deaths, also if replicas die
// meanwhile; what jobs with replicas can't do is refused.
func TestRmaReplicas(t *testing.T) {
	program := compile(t, "rma")
	want := run(t, tool("banyan"), "run", "-n", "4", "--replicas", "2", program, "replicas")
	want.fine(t)
	for _, flags := range [][]string{
		{"--replicas", "3"}, {"--replicas", "2", "--transport", "tcp"}, {"--replicas", "2", "--order", "leader"},
		{"--replicas", "2", "--fault", "kill rank=1 replica=1 at=send:20; kill rank=2 replica=0 at=send:60"},
		{"--replicas", "3", "--fault", "kill rank=0 replica=0 at=send:40; kill rank=0 replica=1 at=send:90; kill rank=3 replica=2 at=send:200"},
		{"--replicas", "2", "--protocol", "mirror", "--fault", "kill rank=0 replica=1 at=send:50"},
	} {
		o := run(t, tool("banyan"), append(append([]string{"run", "-n", "4"}, flags...), program, "replicas")...)
		if o.code != 0 || sorted(o.stdout) != sorted(want.stdout) {
			t.Errorf("%v: %v, want %v", flags, o, want)
		}
	}
}

// Whatever a rank is about to do when it dies, the others get an error that says so.
func TestRmaKills(t *testing.T) {
	program := compile(t, "rmakills")
	for _, epoch := range []string{"fence", "start", "complete", "wait", "flush", "lock", "leaves", "deserted", "free"} {
		for _, kind := range []string{"create", "allocate"} {
			for _, flags := range [][]string{{"-n", "4"}, onHosts("a:2,b:1")} {
				o := run(t, tool("banyan"), append(append([]string{"run"}, flags...), program, epoch, kind)...)
				if strings.Contains(o.stderr, "not so") || o.code != 0 {
					t.Errorf("%s, %s, %v: %v", epoch, kind, flags, o)
				}
			}
		}
	}
}

// Mistakes name the window, the rank and the value.
func TestRmaMessages(t *testing.T) {
	program := compile(t, "rma")
	for what, text := range map[string]string{
		"range":  "MPI_Put on halo, rank 1: at displacement 4096: 8 bytes from byte 32768 on, and rank 0's part has 32768 bytes (MPI_ERR_RMA_RANGE)",
		"epoch":  "MPI_Get on halo, rank 1: rank 0's part is accessed outside of an epoch",
		"target": "MPI_Put on halo, rank 1: the target is rank 9, and the window has 2 ranks (MPI_ERR_RANK)",
	} {
		if o := run(t, tool("banyan"), "run", "-n", "2", program, what); o.code == 0 || !strings.Contains(o.stderr, text) {
			t.Errorf("%s: %v", what, o)
		}
	}
}

// Replicas that are replaced go on with the windows of their donors.
func TestRmaHeal(t *testing.T) {
	program := compile(t, "rmaheal")
	want := run(t, tool("banyan"), "run", "-n", "3", "--replicas", "2", program, "60")
	want.fine(t)
	o := run(t, tool("banyan"), "run", "-n", "3", "--replicas", "2", "--heal",
		"--fault", "kill rank=1 replica=0 at=200ms; kill rank=0 replica=1 at=500ms", program, "60")
	if o.code != 0 || sorted(o.stdout) != sorted(want.stdout) || !strings.Contains(o.stderr, "is back") {
		t.Errorf("%v, want %v", o, want)
	}
}
