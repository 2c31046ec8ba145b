package test

import (
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// All of one-sided communication, on windows of all kinds: within a host, by sockets, and between
// hosts.
func TestRma(t *testing.T) {
	program := cprogram.Compile(t, "rma")
	for _, flags := range [][]string{
		{"-n", "1"}, {"-n", "3"}, {"-n", "4"}, {"-n", "2", "--transport", "tcp"}, cprogram.OnHosts("a:1,b:1"), cprogram.OnHosts("a:2,b:1"),
	} {
		t.Run(strings.Join(flags[:2], " "), func(t *testing.T) {
			cprogram.Run(t, cprogram.Tool("banyan"), append(append([]string{"run"}, flags...), program)...).Fine(t)
		})
	}
}

// Mistakes name the window, the rank and the value.
func TestRmaMessages(t *testing.T) {
	program := cprogram.Compile(t, "rma")
	for what, text := range map[string]string{
		"range":  "MPI_Put on halo, rank 1: at displacement 4096: 8 bytes from byte 32768 on, and rank 0's part has 32768 bytes (MPI_ERR_RMA_RANGE)",
		"epoch":  "MPI_Get on halo, rank 1: rank 0's part is accessed outside of an epoch",
		"target": "MPI_Put on halo, rank 1: the target is rank 9, and the window has 2 ranks (MPI_ERR_RANK)",
	} {
		if o := cprogram.Run(t, cprogram.Tool("banyan"), "run", "-n", "2", program, what); o.Code == 0 || !strings.Contains(o.Stderr, text) {
			t.Errorf("%s: %v", what, o)
		}
	}
}
