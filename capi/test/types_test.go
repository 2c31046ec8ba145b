package test

import (
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// The programs themselves check that datatypes and operations agree with the C compiler. The
// library reports a mistake together with the wrong value.
func TestTypes(t *testing.T) {
	for name, mistake := range map[string]string{
		"types": "MPI_Type_vector, rank 0: blocklength is -2 (MPI_ERR_COUNT)",
		"ops":   "MPI_Reduce_local, rank 0: MPI_BAND isn't defined for MPI_FLOAT (MPI_ERR_OP)",
	} {
		t.Run(name, func(t *testing.T) {
			program := cprogram.Compile(t, name)
			o := cprogram.Run(t, program)
			o.Fine(t)
			if o.Stdout+o.Stderr != "" {
				t.Errorf("%v", o)
			}
			o = cprogram.Run(t, program, "mistake")
			if o.NoTrace(t); o.Code == 0 || !strings.Contains(o.Stderr, mistake) {
				t.Errorf("want %q: %v", mistake, o)
			}
		})
	}
	o := cprogram.Run(t, cprogram.Compile(t, "types"), "too", "late")
	if o.NoTrace(t); o.Code == 0 || !strings.Contains(o.Stderr, "MPI_Type_size is called after MPI_Finalize") {
		t.Errorf("%v", o)
	}
}
