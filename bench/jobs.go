package bench

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"sync"

	"banyan/internal/job/launcher"
	"banyan/mpi"
)

// LocalTransport runs all processes, replicas too, as goroutines of one.
const LocalTransport = "inproc"

// EncryptedTransport is TCP whose connections are encrypted, although they don't leave the host.
const EncryptedTransport = "encrypted"

// Jobs runs what [Run] measures.
type Jobs struct {
	// Worker is a program, and those of its arguments after which it calls [Perform] with the
	// rest.
	Worker []string
	// Operations is how often a pattern is repeated in one job at most.
	Operations int
}

// Roles of Perform.
const (
	roleEcho  = "echo"  // ADDRESS
	roleLocal = "local" // RANKS REPLICAS
)

// Run runs one job and returns rank 0's samples: nil where a setting doesn't have so many ranks.
func (j Jobs) Run(s Setting, ranks int) ([]Sample, error) {
	switch s.Transport {
	case FloorTransport, PeerTransport:
		if ranks != Patterns[0].Ranks {
			return nil, nil
		}
		if s.Transport == FloorTransport {
			return MeasureFloor(j.Operations), nil
		}
		return j.peer()
	}
	cfg := launcher.Config{
		Ranks: ranks, Replicas: s.Replicas, Program: j.Worker[0], Args: j.with(),
		Env: os.Environ(), Transport: s.Transport, Stdin: bytes.NewReader(nil),
	}
	if s.Transport == EncryptedTransport {
		cfg.Transport, cfg.Encrypt = launcher.TransportTCP, launcher.EncryptTCP
	}
	if s.Transport == LocalTransport {
		cfg.Args = j.with(roleLocal, strconv.Itoa(ranks), strconv.Itoa(s.Replicas))
		cfg.Ranks, cfg.Replicas, cfg.Transport = 1, 1, launcher.TransportTCP
	}
	var stdout, stderr bytes.Buffer
	cfg.Stdout, cfg.Stderr = &stdout, &stderr
	report, err := launcher.Run(cfg)
	if err != nil {
		return nil, err
	}
	if report.ExitCode != 0 {
		return nil, fmt.Errorf("a job ended with %d: %s", report.ExitCode, bytes.TrimSpace(stderr.Bytes()))
	}
	var samples []Sample
	return samples, json.Unmarshal(stdout.Bytes(), &samples)
}

// with are the worker's arguments, with the operations and some more.
func (j Jobs) with(more ...string) []string {
	own := j.Worker[1:len(j.Worker):len(j.Worker)]
	return append(append(own, strconv.Itoa(j.Operations)), more...)
}

// peer measures plain connections between two processes.
func (j Jobs) peer() ([]Sample, error) {
	var other *exec.Cmd
	samples, err := MeasurePeer(j.Operations, func(address string) error {
		other = exec.Command(j.Worker[0], j.with(roleEcho, address)...)
		return other.Start()
	})
	if other != nil && other.Process != nil {
		err = errors.Join(err, other.Wait())
	}
	return samples, err
}

// Perform is what the jobs run; args follow those of [Jobs]. It writes rank 0's samples.
func Perform(out io.Writer, args []string) error {
	most := 0
	if len(args) > 0 {
		most, _ = strconv.Atoi(args[0])
		args = args[1:]
	}
	switch {
	case most < 1:
	case len(args) == 0:
		mpi.Main(func(w *mpi.Comm) error {
			samples, err := Measure(w, most)
			if err != nil || w.Rank() > 0 {
				return err
			}
			return json.NewEncoder(out).Encode(samples)
		})
	case len(args) == 2 && args[0] == roleEcho:
		return EchoPeer(args[1], most)
	case len(args) == 3 && args[0] == roleLocal:
		ranks, err1 := strconv.Atoi(args[1])
		replicas, err2 := strconv.Atoi(args[2])
		if err := errors.Join(err1, err2); err != nil {
			return err
		}
		return performLocal(out, ranks, replicas, most)
	}
	return fmt.Errorf("want OPERATIONS, and nothing else, %s ADDRESS, or %s RANKS REPLICAS", roleEcho, roleLocal)
}

// performLocal measures ranks that are goroutines of this process.
func performLocal(out io.Writer, ranks, replicas, most int) error {
	var once sync.Once // one of rank 0's replicas writes
	return mpi.Local(ranks, func(w *mpi.Comm) error {
		samples, err := Measure(w, most)
		if err == nil && w.Rank() == 0 {
			once.Do(func() { err = json.NewEncoder(out).Encode(samples) })
		}
		return err
	}, mpi.WithReplicas(replicas))
}
