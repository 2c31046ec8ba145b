package test

import (
	"strings"
	"testing"
)

// The programs themselves check that datatypes and operations agree with the C compiler. The
// library reports a mistake together with the wrong value.
func TestTypes(t *testing.T) {
	for name, mistake := range map[string]string{
		"types": "MPI_Type_vector, rank 0: blocklength is -2 (MPI_ERR_COUNT)",
		"ops":   "MPI_Reduce_local, rank 0: MPI_BAND isn't defined for MPI_FLOAT (MPI_ERR_OP)",
	} {
		t.Run(name, func(t *testing.T) {
			program := compile(t, name)
			o := run(t, program)
			o.fine(t)
			if o.stdout+o.stderr != "" {
				t.Errorf("%v", o)
			}
			o = run(t, program, "mistake")
			if o.noTrace(t); o.code == 0 || !strings.Contains(o.stderr, mistake) {
				t.Errorf("want %q: %v", mistake, o)
			}
		})
	}
	o := run(t, compile(t, "types"), "too", "late")
	if o.noTrace(t); o.code == 0 || !strings.Contains(o.stderr, "MPI_Type_size is called after MPI_Finalize") {
		t.Errorf("%v", o)
	}
}
