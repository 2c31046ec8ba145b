package test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"banyan/internal/testing/cprogram"
)

// The Go runtime's monitor, and no other thread, has a long timer slack, however the library is
// loaded.
func TestMonitorsSlack(t *testing.T) {
	if unix.Geteuid() != 0 {
		t.Skip("the kernel tells the slack of other threads to root only")
	}
	here, err := unix.PrctlRetInt(unix.PR_GET_TIMERSLACK, 0, 0, 0, 0)
	if err != nil {
		t.Fatal(err)
	}
	const monitors = "10000000"
	usual := fmt.Sprint(here)
	for _, test := range []struct{ flags, args []string }{
		{nil, nil},
		{[]string{"-Wl,--as-needed"}, []string{cprogram.Library()}}, // the linker finds that it needs no library
	} {
		program := cprogram.Compile(t, "slack", test.flags...)
		o := cprogram.Run(t, program, test.args...)
		slacks := strings.Fields(o.Stdout)
		if o.Code != 0 || len(slacks) < 4 { // the program's thread, the one that begins the runtime, the monitor, progress
			t.Fatalf("%q: %v", test.args, o)
		}
		slices.Sort(slacks)
		want := append([]string{monitors}, slices.Repeat([]string{usual}, len(slacks)-1)...)
		slices.Sort(want)
		if !slices.Equal(slacks, want) {
			t.Errorf("%q: the threads have slacks of %q ns, want %q", test.args, slacks, want)
		}
	}
}
