package comm_test

import (
	"errors"
	"flag"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"banyan/internal/job/join/jointest"
	"banyan/internal/job/launcher"
	"banyan/internal/mpi/comm"
	"banyan/internal/proto"
	"banyan/internal/runtime/process"
)

// pacts is how many agreements TestAgreementJobs makes.
var pacts = flag.Int("pacts", 2400, "agreements of TestAgreementJobs, in jobs whose ranks are killed")

// agrees takes part in arguments[1] agreements, random with the seed arguments[0], through common
// memory once that is open. Ranks are killed on the way, but never all. Collectives that may fail,
// at some members only, are made between them, and communicators revoked. After failures the
// members go on in a shrunk communicator, or in the same one. Those that are left print what they
// have seen.
func agrees(w *comm.Comm, arguments []int) error {
	seed, rounds := uint64(arguments[0]), arguments[1]
	lots, own := rand.New(rand.NewPCG(seed, 0)), rand.New(rand.NewPCG(seed, uint64(w.Rank())))
	n := w.Size()
	spared := lots.IntN(n)
	deaths := make([]int, n)
	for i := range deaths {
		if deaths[i] = rounds; i != spared && lots.IntN(3) > 0 {
			deaths[i] = lots.IntN(rounds)
		}
	}
	me, c := w.Rank(), w
	w.SetStrict(seed%3 == 0)
	seen := fnv.New64a()
	for i := range rounds {
		if i == deaths[me] { // it dies during what follows
			go dieWithin(300 * time.Microsecond)
		}
		if lots.IntN(4) == 0 {
			c.Barrier().Run() // who fails and who doesn't mustn't matter
		}
		if lots.IntN(8) == 0 && own.IntN(2) == 0 {
			c.Revoke()
		}
		flags, err := c.Agree(^uint32(0) &^ (1 << me))
		if err != nil && !errors.Is(err, process.ErrRankLost) {
			return err
		}
		for _, r := range c.Ranks() {
			if flags>>r&1 != 0 && deaths[r] > i {
				return fmt.Errorf("seed %d, agreement %d: %d lives, and doesn't count", seed, i, r)
			}
		}
		if lost := (*process.LostError)(nil); errors.As(err, &lost) && (deaths[lost.Rank] > i || !slices.Contains(c.Failed(), lost.Rank)) {
			return fmt.Errorf("seed %d, agreement %d: %v", seed, i, err)
		}
		fmt.Fprint(seen, i, flags, err != nil)
		if how := lots.IntN(3); err != nil && how == 0 {
			c.AckFailed(n)
		} else if err != nil && how == 1 || lots.IntN(60) == 0 {
			d, err := c.Shrink()
			if err != nil {
				return err
			}
			for r := range proto.Rank(n) {
				if deaths[r] > i && !slices.Contains(d.Ranks(), r) {
					return fmt.Errorf("seed %d, shrink after agreement %d: %d lives, and is missing", seed, i, r)
				}
			}
			fmt.Fprint(seen, d.Ranks())
			if c != w {
				c.Free()
			}
			c = d
			c.SetStrict(seed%3 == 0)
		}
	}
	if deaths[me] < rounds {
		select {} // it waits to be killed, and can't print that it lived
	}
	fmt.Printf("all have seen %x, rank %d too\n", seen.Sum64(), me)
	return nil
}

// Ranks are killed at random while agreements are under way, in real processes that share memory.
// All that live see the same flags, the same errors and the same members.
func TestAgreementJobs(t *testing.T) {
	const each = 300
	killed, seed := 0, 0
	for total := 0; total < *pacts; total += each {
		seed++
		n := []int{4, 2, 3, 9, 5, 6}[seed%6]
		transport := launcher.TransportSHM
		if seed%4 == 3 {
			transport = launcher.TransportTCP
		}
		out, errs, report := processes(t, n, false, transport, "agrees", seed, each)
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
	t.Logf("%d agreements in %d jobs, %d ranks killed", seed*each, seed, killed)
}

// Agreements go through common memory from some point on, unless a member can't open it or somebody
// dies. Neither that nor a revocation shows in what they come to.
func TestSharedAgreements(t *testing.T) {
	for _, unwilling := range []int{-1, 0, 2} {
		for i, err := range sharedJob(t, 4, func(w *comm.Comm, die func()) error {
			w.Unwilling(w.Rank() == unwilling)
			shared := 0
			for i := range 300 {
				if i == 200 && w.Rank() == 1 {
					w.Revoke()
				}
				if i == 250 && w.Rank() == 3 {
					die()
					return jointest.ErrDies
				}
				if w.SharesAgreements() {
					shared++
				}
				flags, err := w.Agree(uint32(i)<<4 | 15&^(1<<w.Rank()))
				want := uint32(i) << 4
				if i >= 250 {
					want |= 8
				}
				if errors.Is(err, process.ErrRankLost) != (i == 250) || flags != want {
					return fmt.Errorf("agreement %d: %x, %v", i, flags, err)
				}
				if i == 250 {
					w.AckFailed(1)
				}
			}
			if many := shared > 150 && shared <= 251; many != (unwilling < 0) || w.SharesAgreements() {
				return fmt.Errorf("%d agreements are shared", shared)
			}
			return nil
		}) {
			if err != nil && !errors.Is(err, jointest.ErrDies) {
				t.Errorf("without %d: rank %d: %v", unwilling, i, err)
			}
		}
	}
}
