//go:build !linux || 386 || s390x

package groupnode

import "time"

// measuredRoundTrip isn't known here.
func measuredRoundTrip(uintptr) time.Duration { return 0 }
