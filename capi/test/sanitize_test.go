package test

import (
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// TestSanitized shows that make asan would notice a wrong access of the library's C: what a receive
// writes beyond a program's buffer, in the lane and with a request, and what a put reads there.
func TestSanitized(t *testing.T) {
	if !cprogram.Sanitizes() {
		t.Skip("make asan builds a library that is checked")
	}
	program := cprogram.Compile(t, "beyond")
	for _, how := range []string{"recv", "irecv", "put"} {
		o := cprogram.Unchecked(t, cprogram.Tool("banyan"), "run", "-n", "2", program, how)
		if o.Code == 0 || !strings.Contains(o.Stderr, "ERROR: AddressSanitizer: heap-buffer-overflow") {
			t.Errorf("%s: %v", how, o)
		}
	}
}
