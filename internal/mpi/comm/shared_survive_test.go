package comm_test

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/launcher"
	"banyan/internal/mpi/comm"
	"banyan/internal/runtime/process"
)

// shares is how many collectives TestSharedSurvive makes.
var shares = flag.Int("shares", 4000, "small collectives of TestSharedSurvive, in jobs whose ranks are killed")

// share takes part in arguments[1] small collectives, random with the seed arguments[0]. Ranks are
// killed on the way, but never all. The ranks that are left print which broadcasts were lost to
// them.
func share(w *comm.Comm, arguments []int) error {
	seed, rounds := uint64(arguments[0]), arguments[1]
	lots := rand.New(rand.NewPCG(seed, 0))
	n, r := w.Size(), w.Rank()
	spared := lots.IntN(n)
	deaths := make([]int, n)
	for i := range deaths {
		if deaths[i] = rounds; i != spared && lots.IntN(3) == 0 {
			deaths[i] = comm.SharedFrom + lots.IntN(rounds-comm.SharedFrom)
		}
	}
	if err := warm(w); err != nil {
		return err
	}
	var lost []int
	for i := range rounds {
		if i == deaths[r] {
			// It dies during what follows.
			go dieWithin(300 * time.Microsecond)
		}
		kind, root := lots.IntN(8), lots.IntN(n)
		m := 8 * (1 + lots.IntN(8))
		if lots.IntN(8) == 0 {
			m = 8 * (1 + lots.IntN(64))
		}
		// In round i the member r gives its rank and the round, again and again.
		number := func(of int) uint64 { return uint64(i)<<8 | uint64(of) }
		gives := func(of, m int) []byte {
			b := make([]byte, m)
			for k := 0; k < m; k += 8 {
				binary.LittleEndian.PutUint64(b[k:], number(of))
			}
			return b
		}
		recv := make([]byte, n*m)
		var err error
		var wants []byte
		switch kind {
		case 0:
			err = w.Barrier().Run()
		case 1, 2:
			sum := uint64(0)
			for of := range n {
				sum += number(of)
			}
			wants = binary.LittleEndian.AppendUint64(nil, sum)
			if recv = recv[:m]; kind == 1 {
				err = w.Allreduce(gives(r, m), recv, sums).Run()
			} else if err = w.Reduce(gives(r, m), recv, sums, root).Run(); r != root {
				wants = nil
			}
		case 3:
			err = w.Allgather(gives(r, m), recv).Run()
		case 4:
			err = w.Alltoall(gives(r, n*m), recv, 8).Run()
		default:
			if recv = recv[:m]; r == root {
				recv = gives(r, m)
			}
			wants = gives(root, 8)
			err = w.Bcast(recv, root).Run()
		}
		if lostTo := (*process.LostError)(nil); err != nil {
			if !errors.As(err, &lostTo) || deaths[lostTo.Rank] > i {
				return fmt.Errorf("round %d, kind %d: %w", i, kind, err)
			}
			if kind > 4 {
				if deaths[root] > i {
					return fmt.Errorf("broadcast %d, whose root %d lives: %w", i, root, err)
				}
				lost = append(lost, i)
			}
			continue
		}
		for at := 0; at < len(recv) && kind > 0 && (kind != 2 || r == root); at += 8 {
			want := wants
			if kind == 3 || kind == 4 {
				want = gives(at/m, 8)
			}
			if string(recv[at:at+8]) != string(want) {
				return fmt.Errorf("round %d, kind %d, root %d: %x at %d, not %x", i, kind, root, recv[at:at+8], at, want)
			}
		}
	}
	if deaths[r] < rounds {
		select {} // it waits to be killed
	}
	fmt.Printf("rank %d has lost %v\n", r, lost)
	return nil
}

var sums = comm.Op{Combiner: comm.Func(func(left, right []byte) {
	for i := 0; i < len(left); i += 8 {
		binary.LittleEndian.PutUint64(left[i:], binary.LittleEndian.Uint64(left[i:])+binary.LittleEndian.Uint64(right[i:]))
	}
}), Size: 8}

// Ranks are killed at random while small collectives go through common memory, in real processes.
// The live ranks get right results or errors that name a dead one. Of each broadcast they get the
// same: all have it, or none.
func TestSharedSurvive(t *testing.T) {
	const each = 1000
	killed, seed := 0, 0
	for total := 0; total < *shares; total += each {
		seed++
		n := []int{4, 2, 3, 8, 5, 6}[seed%6]
		out, errs, report := processes(t, n, false, launcher.TransportSHM, "share", seed, each)
		lines := strings.Split(strings.TrimSpace(out), "\n")
		if report.ExitCode != 0 || report.Outcome != launcher.OutcomeCompleted || len(lines) != n-len(report.LostRanks) {
			t.Fatalf("seed %d, %d ranks: exit code %d, %s %s; %d of %d ranks are lost, %d have ended\n%s%.4000s",
				seed, n, report.ExitCode, report.Outcome, report.Reason, len(report.LostRanks), n, len(lines), out, errs)
		}
		for _, l := range lines {
			_, first, _ := strings.Cut(lines[0], "lost")
			if _, this, _ := strings.Cut(l, "lost"); this != first {
				t.Errorf("seed %d: broadcasts were lost to some ranks only:\n%s", seed, out)
			}
		}
		killed += len(report.LostRanks)
	}
	if killed == 0 {
		t.Error("nobody was killed")
	}
	t.Logf("%d collectives in %d jobs, %d ranks killed", seed*each, seed, killed)
}
