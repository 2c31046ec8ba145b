package cli

import (
	"context"
	"os/signal"

	"golang.org/x/sys/unix"
)

// Interruptible returns a context that a signal ends, so that the command has time to clean up.
func Interruptible(ctx context.Context) (interruptible context.Context, stop func()) {
	return signal.NotifyContext(ctx, unix.SIGINT, unix.SIGTERM, unix.SIGHUP)
}
