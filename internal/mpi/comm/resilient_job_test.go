package comm_test

import (
	"encoding/binary"
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/launcher"
	"banyan/internal/mpi/comm"
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// resilients is how many collectives TestResilientJobs makes.
var resilients = flag.Int("resilients", 1200, "collectives of TestResilientJobs, in jobs whose ranks are killed")

// resilient takes part in arguments[1] resilient collectives, random with the seed arguments[0]:
// barriers and reductions of all sizes, with operations of the library and foreign ones. Ranks are
// killed on the way, but never all. Those that are left print what they have seen.
func resilient(w *comm.Comm, arguments []int) error {
	seed, rounds := uint64(arguments[0]), arguments[1]
	lots := rand.New(rand.NewPCG(seed, 0))
	n := w.Size()
	spared := lots.IntN(n)
	deaths := make([]int, n)
	for i := range deaths {
		if deaths[i] = rounds; i != spared && lots.IntN(3) > 0 {
			deaths[i] = lots.IntN(rounds)
		}
	}
	w.SetResilient(true)
	w.SetStrict(seed%3 == 0)
	seen := fnv.New64a()
	for i := range rounds {
		if i == deaths[w.Rank()] { // it dies during what follows
			go dieWithin(400 * time.Microsecond)
		}
		kind, root, size := lots.IntN(4), lots.IntN(n), 8*(1+lots.IntN(64))
		if lots.IntN(4) == 0 {
			size = 8 * lots.IntN(12_000)
		}
		op := sums
		op.Foreign = lots.IntN(3) == 0
		acks := lots.IntN(2) == 0
		send := make([]byte, size)
		fill(send, uint64(i)<<8|uint64(w.Rank()))
		recv := send
		if lots.IntN(2) == 0 {
			recv = make([]byte, size)
		}
		var err error
		result := kind > 0
		switch kind {
		case 0:
			err = w.Barrier().Run()
		case 1:
			err = w.Reduce(send, recv, op, root).Run()
			result = root == w.Rank()
		default:
			err = w.Allreduce(send, recv, op).Run()
		}
		if err != nil && !errors.Is(err, process.ErrRankLost) {
			return err
		}
		missing := w.Missing()
		rootDead := kind == 1 && err != nil && slices.Contains(w.Failed(), proto.Rank(root))
		if result && !rootDead {
			want := uint64(0)
			for r := range uint64(n) {
				if !slices.Contains(missing, proto.Rank(r)) {
					want += uint64(i)<<8 | r
				}
			}
			for k := 0; k < size; k += 8 {
				if got := binary.LittleEndian.Uint64(recv[k:]); got != want {
					return fmt.Errorf("seed %d, round %d, kind %d, %d bytes: %x at %d, want %x, without %v", seed, i, kind, size, got, k, want, missing)
				}
			}
		}
		for r, d := range deaths {
			if d >= rounds && slices.Contains(missing, proto.Rank(r)) {
				return fmt.Errorf("seed %d, round %d: %d lives and is missing", seed, i, r)
			}
		}
		fmt.Fprint(seen, i, missing, err != nil)
		if acks {
			w.AckFailed(n)
		}
	}
	if deaths[w.Rank()] < rounds {
		select {} // it waits to be killed, and can't print that it lived
	}
	fmt.Printf("all have seen %x, rank %d too\n", seen.Sum64(), w.Rank())
	return nil
}

func fill(b []byte, number uint64) {
	for k := 0; k < len(b); k += 8 {
		binary.LittleEndian.PutUint64(b[k:], number)
	}
}

// Ranks are killed at random while resilient collectives are under way, in real processes. All that
// live see the same results, of the same contributors, and the same errors.
func TestResilientJobs(t *testing.T) {
	const each = 300
	killed, seed := 0, 0
	for total := 0; total < *resilients; total += each {
		seed++
		n := []int{4, 2, 3, 9, 5, 6}[seed%6]
		transport := []string{launcher.TransportSHM, launcher.TransportSHM, launcher.TransportTCP}[seed%3]
		out, errs, report := processes(t, n, false, transport, "resilient", seed, each)
		var same []string
		for line := range strings.Lines(out) {
			seen, _, _ := strings.Cut(line, ",")
			same = append(same, seen)
		}
		all := len(same)
		if same = slices.Compact(same); report.ExitCode != 0 || all != n-len(report.LostRanks) || len(same) != 1 {
			t.Fatalf("seed %d, %d ranks over %s: exit code %d, %s %s; %d of %d ranks are lost\n%s%.4000s",
				seed, n, transport, report.ExitCode, report.Outcome, report.Reason, len(report.LostRanks), n, out, errs)
		}
		killed += len(report.LostRanks)
	}
	if killed == 0 {
		t.Error("nobody was killed")
	}
	t.Logf("%d collectives in %d jobs, %d ranks killed", seed*each, seed, killed)
}
