package join

import (
	"fmt"
	"log/slog"
	"os"

	"banyan/internal/fault"
	"banyan/internal/job/env"
	"banyan/internal/runtime/transport/mesh"
)

// What the environment says beside who is who.

// media are those.
func media() (mesh.Media, error) {
	switch wish := os.Getenv(env.Transport); wish {
	case "", env.TransportAuto:
		return mesh.Any, nil
	case env.TransportSHM:
		return mesh.SharedMemory, nil
	case env.TransportTCP:
		return mesh.Sockets, nil
	default:
		return 0, fmt.Errorf("%s=%q is no transport; there are auto, shm and tcp", env.Transport, wish)
	}
}

// strikes makes the fault plan's events for this process that count sends. They strike
// before the message with a number is sent, or change its data.
func strikes() (func(n uint64, data []byte) []byte, error) {
	events, err := fault.ParseOwn(os.Getenv(env.Fault))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", env.Fault, err)
	}
	if len(events) == 0 {
		return nil, nil
	}
	flips := 0 // that wait for a message with data
	return func(n uint64, data []byte) []byte {
		for _, e := range events {
			switch {
			case e.At.Kind != fault.AtSend || e.At.N != int64(n):
			case e.Action == fault.Flip:
				flips++
			default:
				e.Action.Strike()
			}
		}
		if flips > 0 && len(data) > 0 {
			flips--
			return fault.Flipped(data)
		}
		return data
	}, nil
}

// LocalRanks is how many ranks banyan run --transport inproc wants as
// goroutines of this process, or 0.
func LocalRanks() (int, error) { return env.Positive(env.LocalRanks, 0) }

// logger is where this process tells what concerns its user: the program's own
// log, or, if BANYAN_DEBUG is set, stderr, with every death and how it was found.
func logger() *slog.Logger {
	if os.Getenv(env.Debug) == "" {
		return slog.Default()
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
