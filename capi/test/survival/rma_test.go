package survival

import (
	"slices"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// Whatever a rank is about to do when it dies, the others get an error that says so.
func TestRmaKills(t *testing.T) {
	program := cprogram.Compile(t, "rmakills")
	for _, epoch := range []string{"fence", "start", "complete", "wait", "flush", "lock", "leaves", "deserted", "free"} {
		for _, kind := range []string{"create", "allocate"} {
			for _, flags := range [][]string{{"-n", "4"}, cprogram.OnHosts("a:2,b:1")} {
				o := cprogram.Run(t, cprogram.Tool("banyan"), append(append([]string{"run"}, flags...), program, epoch, kind)...)
				if strings.Contains(o.Stderr, "not so") || o.Code != 0 {
					t.Errorf("%s, %s, %v: %v", epoch, kind, flags, o)
				}
			}
		}
	}
}

// With replicas the same program gives the same results as without deaths, also if replicas die
// meanwhile; what jobs with replicas can't do is refused.
func TestRmaReplicas(t *testing.T) {
	program := cprogram.Compile(t, "rma")
	want := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "4", "--replicas", "2", program, "replicas")
	want.Fine(t)
	for _, flags := range [][]string{
		{"--replicas", "3"}, {"--replicas", "2", "--transport", "tcp"}, {"--replicas", "2", "--order", "leader"}, {"--replicas", "2", "--order", "auto"},
		{"--replicas", "2", "--fault", "kill rank=1 replica=1 at=send:20; kill rank=2 replica=0 at=send:60"},
		{"--replicas", "3", "--fault", "kill rank=0 replica=0 at=send:40; kill rank=0 replica=1 at=send:90; kill rank=3 replica=2 at=send:200"},
		{"--replicas", "2", "--protocol", "mirror", "--fault", "kill rank=0 replica=1 at=send:50"},
	} {
		what := "replicas"
		if slices.Contains(flags, "--order") {
			what = "led"
		}
		o := cprogram.Run(t, cprogram.Tool("banyan"), append(append([]string{"run", "-n", "4"}, flags...), program, what)...)
		if o.Code != 0 || cprogram.Sorted(o.Stdout) != cprogram.Sorted(want.Stdout) {
			t.Errorf("%v: %v, want %v", flags, o, want)
		}
	}
}
