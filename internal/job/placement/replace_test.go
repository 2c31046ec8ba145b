package placement

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

// start is a job that runs as it was placed.
func start(t fataler, j *Job) Running {
	p, err := j.Place()
	if err != nil {
		t.Fatalf("%v", err)
	}
	return Running{At: slices.Clone(p.Host), Last: p.Host, Alive: slices.Repeat([]bool{true}, len(j.Hosts))}
}

// lose kills hosts.
func (r *Running) lose(hosts ...int) {
	for _, h := range hosts {
		r.Alive[h] = false
		for p, at := range r.At {
			if at == h {
				r.At[p] = -1
			}
		}
	}
}

func TestReplacement(t *testing.T) {
	spare := func(hosts []Host, which ...int) []Host {
		for _, h := range which {
			hosts[h].Spare = true
		}
		return hosts
	}
	for name, tc := range map[string]struct {
		job   Job
		lost  []int
		dead  proto.Proc
		want  int
		says  string
		fails string
	}{
		"the same host":       {Job{Layout: layout.Uniform(2, 2), Hosts: slotted(4, 4)}, nil, 0, 0, "", ""},
		"a spare host":        {Job{Layout: layout.Uniform(2, 2), Hosts: spare(slotted(2, 2, 2), 2)}, []int{0}, 0, 2, "", ""},
		"a free slot":         {Job{Layout: layout.Uniform(2, 2), Hosts: slotted(2, 2, 1)}, []int{0}, 1, 2, "", ""},
		"not with a sibling":  {Job{Layout: layout.Uniform(2, 2), Hosts: slotted(2, 8)}, []int{0}, 0, 0, "", "h1 has a replica of the same rank; a spare host would"},
		"not without a slot":  {Job{Layout: layout.Uniform(2, 2), Hosts: slotted(2, 1, 1)}, []int{1}, 2, 0, "", "h0 has a replica of the same rank, h2 has no free slot"},
		"unless it may":       {Job{Layout: layout.Uniform(2, 2), Hosts: slotted(2, 1, 1), Oversubscribe: true}, []int{1}, 2, 2, "", ""},
		"the other rack":      {Job{Layout: layout.Uniform(1, 2), Hosts: spare(racked("abab", 1), 2, 3)}, []int{1}, 1, 3, "", ""},
		"the same rack, told": {Job{Layout: layout.Uniform(1, 2), Hosts: spare(racked("aba", 1), 2)}, []int{1}, 1, 2, "it shares its rack with another replica of its rank", ""},
		"shared, told":        {Job{Layout: layout.Uniform(1, 2), Hosts: slotted(1, 2), AllowShared: true}, []int{0}, 0, 1, "it shares h1 with another replica of its rank", ""},
		"no host":             {Job{Layout: layout.Uniform(1, 2), Hosts: slotted(1, 1)}, []int{0, 1}, 0, 0, "", "no host lives"},
	} {
		t.Run(name, func(t *testing.T) {
			now := start(t, &tc.job)
			now.lose(tc.lost...)
			now.At[tc.dead] = -1
			h, says, err := tc.job.Replacement(tc.dead, now)
			switch {
			case tc.fails != "":
				if err == nil || !strings.Contains(err.Error(), tc.fails) {
					t.Errorf("%d, %v", h, err)
				}
			case err != nil || h != tc.want || says != tc.says:
				t.Errorf("%d, %q, %v", h, says, err)
			}
		})
	}
}

// After any deaths of hosts, replacements are on living hosts that their programs may use, and no
// rank has two replicas on a host.
func TestReplacements(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := drawJob(t, 8, 6)
		j.AllowShared = false
		if _, err := j.Place(); err != nil {
			return
		}
		now := start(t, j)
		domains := j.domains(ByHost)
		for range 4 {
			h := rapid.IntRange(0, len(j.Hosts)-1).Draw(t, "lost")
			now.lose(h)
			for p := range now.At {
				if now.At[p] >= 0 {
					continue
				}
				to, _, err := j.Replacement(proto.Proc(p), now)
				if err == nil {
					now.At[p], now.Last[p] = to, to
					if !now.Alive[to] || !j.allowed(j.partOf(j.Layout.Rank(proto.Proc(p))))[to] {
						t.Fatalf("process %d on host %d", p, to)
					}
				}
			}
			for r := range proto.Rank(j.Layout.Ranks()) {
				in := make(map[int]bool)
				for k := range j.Layout.Degree(r) {
					at := now.At[j.Layout.Proc(r, k)]
					if at >= 0 && in[domains[at]] {
						t.Fatalf("%+v: two replicas of rank %d on host %d", j, r, at)
					}
					if at >= 0 {
						in[domains[at]] = true
					}
				}
			}
			now.Alive[h] = rapid.Bool().Draw(t, "returns")
		}
	})
}

// As many processes of a host find other hosts as can, compared with all ways; and each is where a
// replacement may be.
func TestEvacuation(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := drawJob(t, 8, 5)
		j.AllowShared = false
		if _, err := j.Place(); err != nil {
			return
		}
		now := start(t, j)
		from := rapid.IntRange(0, len(j.Hosts)-1).Draw(t, "from")
		now.Alive[from] = false
		var all []proto.Proc
		for p, h := range now.At {
			if h == from {
				all = append(all, proto.Proc(p))
			}
		}
		// most is how many of the rest can find a host.
		var most func(rest []proto.Proc) int
		most = func(rest []proto.Proc) int {
			if len(rest) == 0 {
				return 0
			}
			p := rest[0]
			best := most(rest[1:])
			was := now.At[p]
			homes, _ := j.candidates(p, now)
			for _, x := range homes {
				now.At[p] = x.host
				best = max(best, 1+most(rest[1:]))
			}
			now.At[p] = was
			return best
		}
		want := most(all)
		homes, found := j.Evacuation(all, now), 0
		for i, h := range homes {
			if h < 0 {
				continue
			}
			found++
			if options, _ := j.candidates(all[i], now); !slices.ContainsFunc(options, func(x home) bool { return x.host == h }) {
				t.Fatalf("process %d on host %d", all[i], h)
			}
			now.At[all[i]] = h
		}
		if found != want {
			t.Fatalf("%d of %d find a host, and %d could: %v of %+v", found, len(all), want, homes, j)
		}
	})
}

// The first gives way to those that can't be elsewhere.
func TestEvacuationGivesWay(t *testing.T) {
	j := Job{Layout: layout.Uniform(2, 2), Hosts: slotted(2, 1, 1, 1)}
	now := Running{At: []int{0, 0, 1, 2}, Last: []int{0, 0, 1, 2}, Alive: []bool{false, true, true, true}}
	now.At[3] = 3 // host 1 has rank 0's sibling, host 3 rank 1's; host 2 is free
	j.Hosts[1].Slots, j.Hosts[3].Slots = 2, 1
	if got := j.Evacuation([]proto.Proc{0, 1}, now); !slices.Equal(got, []int{2, 1}) {
		t.Error(got)
	}
	if got := j.Evacuation([]proto.Proc{1, 0}, now); !slices.Equal(got, []int{1, 2}) {
		t.Error(got)
	}
	j.Hosts[1].Slots = 1
	if got := j.Evacuation([]proto.Proc{1, 0}, now); !slices.Equal(got, []int{2, -1}) {
		t.Error(got)
	}
}
