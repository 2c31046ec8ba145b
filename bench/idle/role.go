package idle

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"time"

	"golang.org/x/sys/unix"

	"banyan/bench/processes"
	"banyan/internal/job/env"
)

// task is what a process is told to do.
type task struct {
	System System        `json:"system"`
	N      int           `json:"n"`
	Span   time.Duration `json:"span"`
	Deaths int           `json:"deaths"`
	Shared bool          `json:"shared"` // the network isn't the process's own
}

func (t task) env() string {
	b, err := json.Marshal(t)
	if err != nil {
		panic(err) // strings and numbers
	}
	return env.BenchIdle + "=" + string(b)
}

const (
	// settle is how long a group is left in peace before it is measured: connections for the next
	// change are made meanwhile.
	settle = 2 * time.Second
	// deathLimit bounds the time until a death is known. memberlist's grows with the members.
	deathLimit = 2 * time.Minute
)

// foundLimit bounds the founding of a group.
func (t task) foundLimit() time.Duration {
	return 30*time.Second + time.Duration(t.N)*500*time.Millisecond
}

// limit bounds all that a process does.
func (t task) limit() time.Duration {
	return t.foundLimit() + settle + t.Span + time.Duration(t.Deaths)*deathLimit + 10*time.Second
}

// group is a group of one of the systems, in this process.
type group interface {
	// found starts all members and returns when all know all.
	found(n int, limit time.Duration) error
	// kill ends a member without a word, and returns when the last of the others knew of it.
	kill(i int, limit time.Duration) (at time.Time, err error)
}

// resultFile is the descriptor that the result goes to.
const resultFile = 3

// Perform does what the process was started for. A program that is started as Plan.Again says
// calls it.
func Perform() error {
	s := os.Getenv(env.BenchIdle)
	if s == "" {
		return errors.New("this is a part of banyan bench membership, which starts it when needed")
	}
	var t task
	if err := json.Unmarshal([]byte(s), &t); err != nil {
		return fmt.Errorf("%s: %w", env.BenchIdle, err)
	}
	if !t.Shared {
		if err := loopbackUp(); err != nil {
			return err
		}
	}
	if err := t.enough(); err != nil {
		return err
	}
	row, err := t.measure()
	if err != nil {
		return err
	}
	return json.NewEncoder(os.NewFile(resultFile, "result")).Encode(row)
}

// descriptors is how many a member of package group may need: see groupnode's connections.
const descriptors = 26

// enough says whether the process may have as many descriptors as the group needs.
func (t task) enough() error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil || t.System != Banyan {
		return err
	}
	if need := uint64(t.N*descriptors + 100); limit.Cur < need {
		return fmt.Errorf("%d members in one process need up to %d descriptors, and it may have %d: see ulimit -n", t.N, need, limit.Cur)
	}
	return nil
}

// measure founds the group and reads the counters.
func (t task) measure() (row Row, err error) {
	row = Row{System: t.System, N: t.N, Shared: t.Shared}
	g := group(newBanyan())
	if t.System == Memberlist {
		g = newMemberlist()
	}
	goroutines, descriptors := runtime.NumGoroutine(), processes.Descriptors()
	began := time.Now()
	if err := g.found(t.N, t.foundLimit()); err != nil {
		return row, err
	}
	row.Founded = time.Since(began)
	debug.FreeOSMemory() // what the founding took is no part of idling
	time.Sleep(settle)

	before, err := processes.Usage()
	if err != nil {
		return row, err
	}
	time.Sleep(t.Span)
	after, err := processes.Usage()
	if err != nil {
		return row, err
	}
	span := after.At.Sub(before.At).Seconds()
	row.Processor = (after.Processor - before.Processor).Seconds() / span
	row.Packets = float64(after.Packets-before.Packets) / span
	row.Bytes = float64(after.Bytes-before.Bytes) / span
	row.Resident = after.Resident
	row.Goroutines, row.Descriptors = runtime.NumGoroutine()-goroutines, processes.Descriptors()-descriptors

	for i := range t.Deaths {
		died := time.Now()
		at, err := g.kill(t.N-1-i, deathLimit) // never the first, which coordinates
		if err != nil {
			return row, err
		}
		row.Known = append(row.Known, at.Sub(died))
		time.Sleep(settle)
	}
	return row, nil
}
