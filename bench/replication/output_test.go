package replication

import (
	"errors"
	"testing"
)

// What programs print is compared but for what differs between their runs without replicas.
func TestOutput(t *testing.T) {
	var o output
	o.native([]byte("started\nresidual 1.5e-3\ntime 0.31 s\ntime 0.40 s\n\nSUCCESSFUL\n"))
	o.native([]byte("started\nresidual 1.5e-3\ntime   0.29 s\ntime 0.40 s\nSUCCESSFUL"))
	for out, ok := range map[string]bool{
		"started\nresidual 1.5e-3\ntime 0.35 s\ntime 0.40 s\nSUCCESSFUL\n":            true,
		"SUCCESSFUL\ntime 10.35 s \ntime 0.40 s\nresidual 1.5e-3\r\nstarted\n":        true,  // in another order
		"started\nresidual 1.6e-3\ntime 0.35 s\ntime 0.40 s\nSUCCESSFUL\n":            false, // another number
		"started\nresidual 1.5e-3\ntime 0.35 s\ntime 0.40 s\nUNSUCCESSFUL\n":          false,
		"started\nstarted\nresidual 1.5e-3\ntime 0.35 s\ntime 0.40 s\nSUCCESSFUL\n":   false, // twice
		"started\nresidual 1.5e-3\ntime 0.35 s\ntime 0.40 s\nSUCCESSFUL\nwarning 1\n": false, // one more
		"started\nresidual 1.5e-3\ntime 0.35 s\ntime 0.41 s\nSUCCESSFUL\n":            false, // yet unknown to vary
	} {
		if err := o.replicated([]byte(out)); (err == nil) != ok || err != nil && !errors.Is(err, errOutput) {
			t.Errorf("%q: %v", out, err)
		}
	}
	o.native([]byte("started\nresidual 1.5e-3\ntime 0.31 s\ntime 0.42 s\nSUCCESSFUL\n"))
	if err := o.replicated([]byte("started\nresidual 1.5e-3\ntime 0.35 s\ntime 0.41 s\nSUCCESSFUL\n")); err != nil {
		t.Errorf("now known to vary: %v", err)
	}
}
