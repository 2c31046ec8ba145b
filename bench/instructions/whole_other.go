//go:build !linux || !amd64

package instructions

import (
	"context"
	"errors"
	"time"
)

// Whole counts the instructions of all threads of a process for a time.
func Whole(ctx context.Context, pid int, span time.Duration, function uintptr) (Calls, error) {
	return Calls{}, errors.New("instructions are counted on linux on amd64 only")
}
