package replication

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"time"

	"banyan/bench/peers"
	"banyan/bench/processes"
	"banyan/mpi"
)

// A stream: rank 0 sends a number each interval, by the clock that all processes share, so that no
// replica drifts away from the others; rank 1 notes when each comes, and from which replica.
const (
	streamInterval = 200 * time.Microsecond
	streamNumbers  = 1500
	streamLead     = 20 * time.Millisecond // from the word to go to the first number
	// The kill falls between these, after the word to go.
	earliestKill = streamLead + 50*time.Millisecond
	latestKill   = streamLead + 250*time.Millisecond
)

// Pause is how long a death held up the receivers of the dead process.
type Pause struct {
	Protocol, Transport string
	Kills               int
	// Milliseconds from the kill to the next message, and the longest of all.
	Milliseconds peers.Spread
	Longest      float64
}

// Pauses kills so many senders, one a job, for each protocol over each transport. The seed draws
// which replica, and when.
func (b *Bench) Pauses(ctx context.Context, transports []string, kills int, seed uint64) ([]Pause, error) {
	var rows []Pause
	for _, t := range transports {
		for _, s := range []Setting{Parallel, Mirror} {
			random := rand.New(rand.NewPCG(seed, 1))
			var all []float64
			row := Pause{Protocol: s.String(), Transport: t, Kills: kills}
			for kill := range kills {
				after := earliestKill + time.Duration(random.Int64N(int64(latestKill-earliestKill)))
				victim := random.IntN(b.Replicas)
				samples, err := b.together(PartFailover, fmt.Sprintf("failover, %v over %s, kill %d", s, t, kill), 1, func() ([]Sample, error) {
					p, err := b.pause(ctx, s, t, victim, after)
					if err != nil {
						return nil, fmt.Errorf("failover, %v over %s: %w", s, t, err)
					}
					b.progress()
					return []Sample{{Part: PartFailover, Name: t, Ranks: 2, Replicas: b.Replicas, Setting: s, Round: kill, Seconds: float64(p) / 1e9}}, nil
				})
				if err != nil {
					return nil, err
				}
				for _, s := range samples {
					ms := s.Seconds * 1e3
					all, row.Longest = append(all, ms), max(row.Longest, ms)
				}
			}
			row.Milliseconds = peers.SpreadOf(all)
			rows = append(rows, row)
		}
	}
	return rows, nil
}

// pause kills a replica of rank 0 some time after the word to go.
func (b *Bench) pause(ctx context.Context, s Setting, transport string, victim int, after time.Duration) (time.Duration, error) {
	dir, err := os.MkdirTemp(b.Dir, "failover-")
	if err != nil {
		return 0, err
	}
	defer os.RemoveAll(dir)
	r, err := start(ctx, b.jobs(s, 2, []string{"--transport", transport},
		append(b.Role[:len(b.Role):len(b.Role)], roleStream, dir)...))
	if err != nil {
		return 0, err
	}
	killed, err := r.kill(dir, b.Replicas, victim, streamLead, after)
	if err := errors.Join(err, r.wait()); err != nil {
		r.stop()
		return 0, err
	}
	list, err := readArrivals(dir, 2*victim+1, streamNumbers)
	if err != nil {
		return 0, err
	}
	return nextFrom(list, victim, killed, s == Parallel)
}

// arrival is a number that came: when, and from which replica.
type arrival struct{ At, Replica int64 }

var (
	errNone  = errors.New("no message of a substitute has come")
	errFalse = errors.New("a substitute sent before the kill")
)

// nextFrom is the time from a kill to the next message of another replica than the victim. Alone
// says that only the victim sends before the kill.
func nextFrom(list []arrival, victim int, killed int64, alone bool) (time.Duration, error) {
	for _, a := range list {
		switch {
		case a.Replica == int64(victim):
		case a.At >= killed:
			return time.Duration(a.At - killed), nil
		case alone:
			return 0, errFalse
		}
	}
	return 0, errNone
}

func readArrivals(dir string, process, numbers int) ([]arrival, error) {
	f, err := os.Open(arrivalsOf(dir, process))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	list := make([]arrival, numbers)
	return list, binary.Read(f, binary.LittleEndian, list)
}

func arrivalsOf(dir string, process int) string {
	return filepath.Join(dir, fmt.Sprint("arrivals-", process))
}

// streamRole is a process of the stream.
func streamRole(w *mpi.Comm, dir string) error {
	if w.Rank() == 1 {
		return receiveStream(w, dir, streamNumbers)
	}
	start, err := ready(dir)
	for i := int64(0); i < streamNumbers && err == nil; i++ {
		err = sendNumber(w, i, start, streamInterval)
	}
	return err
}

// sendNumber sends a number when its time has come, with which replica sent it.
func sendNumber(w *mpi.Comm, i, start int64, interval time.Duration) error {
	time.Sleep(time.Duration(start + i*int64(interval) - processes.Monotonic()))
	return mpi.Send(w, []int64{i, int64(self() / w.Size())}, 1, 0)
}

// receiveStream writes down when each number came.
func receiveStream(w *mpi.Comm, dir string, numbers int) error {
	list := make([]arrival, numbers)
	number := make([]int64, 2)
	for i := range list {
		if _, err := mpi.Recv(w, number, 0, 0); err != nil {
			return err
		}
		if number[0] != int64(i) {
			return fmt.Errorf("number %d came as the %dth", number[0], i)
		}
		list[i] = arrival{processes.Monotonic(), number[1]}
	}
	f, err := os.Create(arrivalsOf(dir, self()))
	if err != nil {
		return err
	}
	return errors.Join(binary.Write(f, binary.LittleEndian, list), f.Close())
}
