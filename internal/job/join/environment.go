package join

import (
	"fmt"
	"log/slog"
	"os"
	"strconv"
	"time"

	"banyan/internal/fault"
	"banyan/internal/runtime/transport/mesh"
)

// What the environment says beside who is who.

// transportVariable says which media the job's user allows: auto, shm or tcp.
const transportVariable = "BANYAN_TRANSPORT"

// media are those.
func media() (mesh.Media, error) {
	switch wish := os.Getenv(transportVariable); wish {
	case "", "auto":
		return mesh.Any, nil
	case "shm":
		return mesh.SharedMemory, nil
	case "tcp":
		return mesh.Sockets, nil
	default:
		return 0, fmt.Errorf("%s=%q is no transport; there are auto, shm and tcp", transportVariable, wish)
	}
}

// strikes makes the fault plan's events for this process that count sends. They strike
// before the message with a number is sent, or change its data.
func strikes() (func(n uint64, data []byte) []byte, error) {
	events, err := fault.FromEnv()
	if err != nil || len(events) == 0 {
		return nil, err
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
func LocalRanks() (int, error) { return intVariable("BANYAN_LOCAL_RANKS", 0) }

func intVariable(name string, otherwise int) (int, error) {
	s := os.Getenv(name)
	if s == "" {
		return otherwise, nil
	}
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("%s=%q must be a positive number", name, s)
	}
	return n, nil
}

// heartbeats are η and δ. Where only one is given the other follows, as in banyan run.
func heartbeats() (period, timeout time.Duration, err error) {
	if timeout, err = durationVariable("BANYAN_HEARTBEAT_TIMEOUT", 0); err != nil {
		return 0, 0, err
	}
	period = DefaultPeriod
	if timeout != 0 {
		period = max(time.Millisecond, min(period, timeout/(DefaultTimeout/DefaultPeriod)))
	}
	if period, err = durationVariable("BANYAN_HEARTBEAT_PERIOD", period); err != nil {
		return 0, 0, err
	}
	if timeout == 0 {
		timeout = max(DefaultTimeout, DefaultTimeout/DefaultPeriod*period)
	}
	if timeout < 2*period { // banyan run says more about it
		return 0, 0, fmt.Errorf("BANYAN_HEARTBEAT_TIMEOUT=%v must be at least twice BANYAN_HEARTBEAT_PERIOD=%v", timeout, period)
	}
	return period, timeout, nil
}

func durationVariable(name string, otherwise time.Duration) (time.Duration, error) {
	s := os.Getenv(name)
	if s == "" {
		return otherwise, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		return 0, fmt.Errorf("%s=%q must be a positive duration such as 100ms", name, s)
	}
	return d, nil
}

// logger is where this process tells what concerns its user: the program's own
// log, or, if BANYAN_DEBUG is set, stderr, with every death and how it was found.
func logger() *slog.Logger {
	if os.Getenv("BANYAN_DEBUG") == "" {
		return slog.Default()
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}
