// Package broadcast measures what it costs to protect a broadcast: the latency of MPI_Bcast over
// tree and correction, dead ranks, number of ranks and size (figures 11, 12 and 15 of Küttler et
// al.), beside Open MPI and MPICH, which have no protection.
//
// # Method
//
// One C program (programs/bcast.c) is built by the mpicc of each library. A setting is a job of it.
// The latency of a broadcast is from the root's call to the last return at a live rank. Processes
// of a machine have one clock. That of another host is compared with the root's before, by 50
// messages to and fro, so it's right to half the time of the quickest. Dead ranks are stopped with
// SIGSTOP while the broadcasts run, and the failure detector is given no time to notice: that is
// what corrections are for, and what the paper emulates. A broadcast that doesn't reach all live
// ranks within Plan.Limit counts as missed, not as slow.
//
// In each round every setting runs once, in an order that rotates; all settings of a round with as
// many dead ranks have the same ones. The figure to look at is the ratio, within a round, to the
// plain tree: the first tree of the plan without correction and deaths.
//
// # Limits
//
// With more ranks than cores the scheduler is measured as well. A stopped member keeps
// its room in the stream, so one job makes at most some 40 segments of broadcasts.
package broadcast

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"banyan/internal/job/env"
	"banyan/internal/splitmix"
)

// MostRanks is the largest number of ranks.
const MostRanks = 64

// segment and segments say how many broadcasts a job can make while members are stopped: none of
// the stream's window may be waited for.
const (
	segment  = 64 << 10
	segments = 40
)

// Plan is what to measure.
type Plan struct {
	Ranks     []int
	Bytes     []int
	Dead      []float64 // percent of the ranks, rounded up
	Schemes   []string  // as env.ParseBcast reads them; env.BcastAuto is the default choice
	Transport string    // of Banyan's jobs
	Hosts     []string  // on which ranks are, in blocks of equal size; none: all on this machine
	Rounds    int
	Count     int // broadcasts of a job, fewer if they are large
	Limit     time.Duration
	Seed      uint64
}

// Schemes are all trees with all corrections, after the default choice.
func Schemes(trees, corrections []string, after time.Duration) ([]string, error) {
	all := []string{env.BcastAuto}
	for _, tree := range trees {
		for _, correction := range corrections {
			text := fmt.Sprintf("tree=%s,correction=%s,after=%s", tree, correction, strings.Replace(after.String(), "µ", "u", 1))
			s, err := env.ParseBcast(text)
			if err != nil {
				return nil, err
			}
			if text = env.FormatBcast(s); !slices.Contains(all, text) {
				all = append(all, text)
			}
		}
	}
	return all, nil
}

// Check says what is wrong with a plan.
func (p *Plan) Check() error {
	for _, n := range p.Ranks {
		if n < 2 || n > MostRanks {
			return fmt.Errorf("%d ranks: want 2 to %d", n, MostRanks)
		}
	}
	for _, b := range p.Bytes {
		if b < 1 || b > 1<<20 {
			return fmt.Errorf("%d bytes: want 1 to %d", b, 1<<20)
		}
	}
	for _, d := range p.Dead {
		if !(d >= 0 && d <= 50) {
			return fmt.Errorf("%v %% dead: want 0 to 50", d)
		}
	}
	switch {
	case len(p.Ranks) == 0 || len(p.Bytes) == 0 || len(p.Dead) == 0 || len(p.Schemes) == 0:
		return errors.New("there is nothing to measure: want numbers of ranks, sizes, shares of dead ranks and schemes")
	case p.Transport != env.TransportAuto && p.Transport != env.TransportSHM && p.Transport != env.TransportTCP:
		return fmt.Errorf("transport %q: want auto, shm or tcp", p.Transport)
	case len(p.Hosts) > 0 && p.Transport == env.TransportSHM:
		return errors.New("transport shm: ranks of different hosts don't share memory")
	case slices.ContainsFunc(p.Hosts, func(h string) bool { return h == "" || strings.ContainsAny(h, ":, ") }):
		return errors.New("hosts: want names, as h0,h1; each gets its share of the ranks")
	case p.Rounds < 1 || p.Count < 1:
		return errors.New("want at least 1 round of 1 broadcast")
	case p.Limit < 10*time.Millisecond || p.Limit > 10*time.Second:
		return fmt.Errorf("limit %v: want 10ms to 10s", p.Limit)
	}
	return nil
}

// Setting is one job.
type Setting struct {
	Library string // "banyan", or a peer
	Scheme  string // of Banyan's jobs
	Ranks   int
	Bytes   int
	Dead    int // ranks
}

// part is the value of an entry of the scheme's text, or "" if there is none.
func (s *Setting) part(key string) string {
	for _, entry := range strings.Split(s.Scheme, ",") {
		if k, v, _ := strings.Cut(entry, "="); k == key {
			return v
		}
	}
	return ""
}

// Tree is how the broadcast spreads: "auto" is the default choice, "" a peer's own.
func (s *Setting) Tree() string {
	if s.Scheme == env.BcastAuto {
		return s.Scheme
	}
	return s.part("tree")
}

// Correction is what follows; "" where the library chooses.
func (s *Setting) Correction() string { return s.part("correction") }

// plain says whether nothing protects the broadcast, and nothing needs to.
func (s *Setting) plain() bool { return s.Dead == 0 && s.Correction() == "none" }

// Settings are those of a plan: the peers without deaths, and Banyan with all.
func (p *Plan) Settings(peers []string) (all []Setting) {
	for _, n := range p.Ranks {
		for _, bytes := range p.Bytes {
			for _, peer := range peers {
				all = append(all, Setting{Library: peer, Ranks: n, Bytes: bytes})
			}
			for _, scheme := range p.Schemes {
				seen := map[int]bool{}
				for _, percent := range p.Dead {
					dead := int(math.Ceil(percent * float64(n) / 100))
					if !seen[dead] && dead < n-1 {
						all = append(all, Setting{Library: "banyan", Scheme: scheme, Ranks: n, Bytes: bytes, Dead: dead})
					}
					seen[dead] = true
				}
			}
		}
	}
	return all
}

// slots are the hosts with the numbers of their ranks, as all libraries' --host reads them.
func (p *Plan) slots(ranks int) string {
	var all []string
	for i, h := range p.Hosts {
		if n := (i+1)*ranks/len(p.Hosts) - i*ranks/len(p.Hosts); n > 0 {
			all = append(all, fmt.Sprintf("%s:%d", h, n))
		}
	}
	return strings.Join(all, ",")
}

// broadcasts is how many a job makes.
func (p *Plan) broadcasts(bytes int) int { return max(1, min(p.Count, segments/(bytes/segment+1))) }

// victims are the dead ranks of a setting in a round: never the root, and the same for all settings
// with as many ranks and dead ones.
func (p *Plan) victims(s *Setting, round int) []int {
	rng := rand.New(rand.NewPCG(splitmix.Mix(p.Seed), uint64(round)<<32|uint64(s.Ranks)<<16|uint64(s.Dead)))
	ranks := rng.Perm(s.Ranks - 1)[:s.Dead]
	for i := range ranks {
		ranks[i]++
	}
	slices.Sort(ranks)
	return ranks
}
