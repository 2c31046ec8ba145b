package join

import (
	"fmt"
	"log/slog"
	"os"
	"slices"
	"time"

	"banyan/internal/fault"
	"banyan/internal/job/env"
	"banyan/internal/proto/broadcast"
	"banyan/internal/runtime/seal"
	"banyan/internal/runtime/transport/mesh"
)

// settings are how the job runs, as the environment says. They are the same in all processes.
type settings struct {
	period, timeout time.Duration // the detector's η and δ
	media           mesh.Media    // that the job's user allows
	sealing         seal.Policy   // which connections are encrypted
	mirror          bool          // each replica sends to all replicas of a rank
	order           env.Ordering  // who decides what timing decides
	verify          bool          // replicas compare what they send
	ackEach         bool          // each message is acknowledged on its own
	// within which time a lost host is known as such, where agents with leases decide; or 0
	leased time.Duration
	scheme broadcast.Scheme // of all broadcasts, or not named
	lane   bool             // C may send and receive small messages itself
}

func readSettings() (s settings, err error) {
	if s.period, s.timeout, err = env.ReadHeartbeats(); err != nil {
		return s, err
	}
	if s.leased, err = env.ReadLeased(); err != nil {
		return s, err
	}
	if s.media, err = readMedia(); err != nil {
		return s, err
	}
	if s.sealing, err = readSealing(); err != nil {
		return s, err
	}
	if s.scheme, err = env.ReadBcast(); err != nil {
		return s, err
	}
	s.verify = os.Getenv(env.Verify) == "true"
	s.lane = os.Getenv(env.Lane) != env.LaneOff
	if s.mirror, err = readMirror(); err != nil {
		return s, err
	}
	if s.order, err = env.ParseOrder(os.Getenv(env.Order)); err != nil {
		return s, fmt.Errorf("%s: %w", env.Order, err)
	}
	s.ackEach, err = readAcknowledge()
	return s, err
}

func readMedia() (mesh.Media, error) {
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

func readSealing() (seal.Policy, error) {
	wish, err := env.ParseEncrypt(os.Getenv(env.Encrypt))
	if err != nil {
		return 0, fmt.Errorf("%s: %w", env.Encrypt, err)
	}
	return map[string]seal.Policy{env.EncryptNone: seal.None, env.EncryptHosts: seal.Hosts, env.EncryptTCP: seal.TCP}[wish], nil
}

func readMirror() (bool, error) {
	switch s := os.Getenv(env.Protocol); s {
	case "", env.ProtocolParallel:
		return false, nil
	case env.ProtocolMirror:
		return true, nil
	default:
		return false, fmt.Errorf("%s=%q is no protocol; there are parallel and mirror", env.Protocol, s)
	}
}

func readAcknowledge() (each bool, err error) {
	switch s := os.Getenv(env.Acknowledge); s {
	case "", env.AcknowledgeTogether:
		return false, nil
	case env.AcknowledgeEach:
		return true, nil
	default:
		return false, fmt.Errorf("%s=%q: there are %s and %s", env.Acknowledge, s, env.AcknowledgeTogether, env.AcknowledgeEach)
	}
}

// LocalRanks is how many ranks "banyan run --transport inproc" wants as goroutines of this
// process, or 0.
func LocalRanks() (int, error) { return env.Positive(env.LocalRanks, 0) }

// strikes carries out those events of this process's fault plan that count sends. They strike
// before the message with a certain number is sent, or change its data. It is nil if there are
// none.
func strikes() (func(n uint64, data []byte) []byte, error) {
	events, err := fault.ParseOwn(os.Getenv(env.Fault))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", env.Fault, err)
	}
	return striking(events, func(a fault.Action) { a.Strike() }), nil
}

// striking carries out the events that count sends, or is nil if there are none. strike is for
// those that don't change the data.
func striking(events []fault.Event, strike func(fault.Action)) func(n uint64, data []byte) []byte {
	if !slices.ContainsFunc(events, func(e fault.Event) bool { return e.At.Kind == fault.AtSend }) {
		return nil
	}
	flips := 0 // that wait for a message with data
	return func(n uint64, data []byte) []byte {
		for _, e := range events {
			switch {
			case e.At.Kind != fault.AtSend || e.At.N != int64(n):
			case e.Action == fault.Flip:
				flips++
			default:
				strike(e.Action)
			}
		}
		if flips > 0 && len(data) > 0 {
			flips--
			return fault.Flipped(data)
		}
		return data
	}
}

// logger is where this process tells what concerns its user: the program's own log or, if
// env.Debug is set, stderr, with every death and how it was found.
func logger() *slog.Logger {
	if os.Getenv(env.Debug) == "" {
		return slog.Default()
	}
	return slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug}))
}

// LeadsClocks says that a replica of this rank decides what the system's clocks tell, what random
// numbers are, and what the process's id is.
func (j *Job) LeadsClocks() bool { return j.order.Clocks && j.Engine.Led() }
