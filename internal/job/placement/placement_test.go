package placement

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"banyan/internal/layout"
	"banyan/internal/proto"
)

type fataler interface{ Fatalf(string, ...any) }

// check checks the promises of a placement.
func check(t fataler, j *Job, p *Placement) {
	load := make([]int, len(j.Hosts))
	domains := j.domains(ByHost)
	for part := range j.parts() {
		allowed := j.allowed(part)
		from, to := j.ranks(part)
		for r := from; r < to; r++ {
			in := make(map[int]int)
			for k := range j.Layout.Degree(r) {
				h := p.Host[j.Layout.Proc(r, k)]
				load[h]++
				in[domains[h]]++
				switch {
				case j.Hosts[h].Spare:
					t.Fatalf("%+v: rank %d is on the spare host %d", j, r, h)
				case !allowed[h]:
					t.Fatalf("%+v: rank %d may not run on host %d", j, r, h)
				case in[domains[h]] > p.Sharing, in[domains[h]] > 1 && !j.AllowShared:
					t.Fatalf("%+v: %d replicas of rank %d share host %d", j, in[domains[h]], r, h)
				}
			}
		}
	}
	for h, n := range load {
		x := j.Hosts[h]
		if x.Slots > 0 && n > x.Slots && !j.Oversubscribe || x.Max > 0 && n > max(x.Max, x.Slots) {
			t.Fatalf("%+v: %d processes on host %d", j, n, h)
		}
	}
}

// possible tries all placements.
func possible(j *Job) bool {
	domains := j.domains(ByHost)
	load := make([]int, len(j.Hosts))
	on := make([]int, j.Layout.Procs())
	var try func(p proto.Proc) bool
	try = func(p proto.Proc) bool {
		if int(p) == j.Layout.Procs() {
			return true
		}
		rank := j.Layout.Rank(p)
		allowed := j.allowed(j.partOf(rank))
	hosts:
		for h, x := range j.Hosts {
			switch {
			case x.Spare || !allowed[h],
				x.Slots > 0 && load[h] >= x.Slots && !j.Oversubscribe,
				x.Max > 0 && load[h] >= max(x.Max, x.Slots):
				continue
			}
			for k := range j.Layout.Replica(p) {
				if !j.AllowShared && domains[on[j.Layout.Proc(rank, k)]] == domains[h] {
					continue hosts
				}
			}
			on[p] = h
			load[h]++
			found := try(p + 1)
			load[h]--
			if found {
				return true
			}
		}
		return false
	}
	return try(0)
}

// verify places a job, checks the placement, and that what is called impossible is.
func verify(t fataler, j *Job) (placed bool) {
	p, err := j.Place()
	if err == nil {
		check(t, j, p)
		return true
	}
	if possible(j) {
		t.Fatalf("%+v is possible: %v", j, err)
	}
	return false
}

// Every small job, with every kind of host.
func TestSmall(t *testing.T) {
	kinds := []Host{{Slots: 1}, {Slots: 2}, {Slots: 3}, {}, {Max: 1}, {Slots: 2, Spare: true}}
	layouts := []layout.Layout{layout.Uniform(1, 1), layout.Uniform(2, 1), layout.Uniform(1, 2), layout.Uniform(2, 2), layout.Uniform(3, 2), layout.Uniform(2, 3),
		layout.Partial([]int{1, 2}), layout.Partial([]int{3, 1}), layout.Partial([]int{1, 3, 2})}
	tried, placed := 0, 0
	for count := 1; count <= 4; count++ {
		for code := range pow(len(kinds), count) {
			for kernels := range 2 { // 1: the first two are one machine
				if kernels == 1 && count == 1 {
					continue
				}
				hosts := make([]Host, count)
				for i, c := 0, code; i < count; i, c = i+1, c/len(kinds) {
					hosts[i] = kinds[c%len(kinds)]
					hosts[i].Name = fmt.Sprint("h", i)
					if kernels == 1 && i < 2 {
						hosts[i].Kernel = "same"
					}
				}
				for _, l := range layouts {
					tried++
					if verify(t, &Job{Layout: l, Hosts: hosts}) {
						placed++
					}
				}
			}
		}
	}
	t.Logf("%d jobs, %d of them placed", tried, placed)
	if placed == 0 || placed == tried {
		t.Error("the cases decide nothing")
	}
}

func pow(a, b int) int {
	if b == 0 {
		return 1
	}
	return a * pow(a, b-1)
}

// drawJob is a job of up to so many ranks and hosts.
func drawJob(t *rapid.T, ranks, hosts int) *Job {
	j := &Job{AllowShared: rapid.Bool().Draw(t, "shared"), Oversubscribe: rapid.Bool().Draw(t, "over")}
	degrees := rapid.SliceOfN(rapid.IntRange(1, 3), 1, ranks).Draw(t, "degrees")
	j.Layout = layout.Partial(degrees)
	label := func(what string) string {
		if n := rapid.IntRange(0, 4).Draw(t, what); n > 0 {
			return fmt.Sprint(what, n)
		}
		return ""
	}
	for i := range rapid.IntRange(1, hosts).Draw(t, "hosts") {
		j.Hosts = append(j.Hosts, Host{Name: fmt.Sprint("h", i), Slots: rapid.IntRange(0, 4).Draw(t, "slots"), Max: rapid.SampledFrom([]int{0, 0, 2}).Draw(t, "max"),
			Kernel: label("kernel"), Rack: label("rack"), Zone: label("zone"), Spare: rapid.IntRange(0, 4).Draw(t, "spare") == 0})
	}
	if len(degrees) > 1 && rapid.Bool().Draw(t, "parts") {
		cut := rapid.IntRange(1, len(degrees)-1).Draw(t, "cut")
		own := rapid.SliceOfNDistinct(rapid.IntRange(0, len(j.Hosts)-1), 1, -1, rapid.ID).Draw(t, "own")
		j.Parts = []Part{{Ranks: cut}, {Ranks: len(degrees) - cut, Hosts: own}}
	}
	return j
}

func TestRandom(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) { verify(t, drawJob(t, 4, 4)) })
}

// Large jobs: what is placed keeps the promises. What would be enough is enough, and less isn't.
func TestLarge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		j := drawJob(t, 40, 12)
		p, err := j.Place()
		if err == nil {
			check(t, j, p)
			return
		}
		if !strings.Contains(err.Error(), "would be enough") {
			t.Fatalf("%v", err)
		}
		hosts, slots := j.Lacking()
		with := func(hosts, slots int) bool {
			more := *j
			more.Hosts, more.Parts = slices.Clone(j.Hosts), slices.Clone(j.Parts)
			for range hosts {
				more.Hosts = append(more.Hosts, Host{Slots: slots, Max: slots})
				for p := range more.Parts {
					if more.Parts[p].Hosts != nil {
						more.Parts[p].Hosts = append(slices.Clone(more.Parts[p].Hosts), len(more.Hosts)-1)
					}
				}
			}
			_, err := more.Place()
			return err == nil
		}
		if !with(hosts, slots) || slots > 1 && with(hosts, slots-1) || hosts > 1 && with(hosts-1, j.Layout.Procs()) {
			t.Fatalf("%+v: %v", j, err)
		}
	})
}

// hostsOf is a placement in short: the hosts of the processes, replica layers apart.
func hostsOf(j *Job, p *Placement) string {
	var text strings.Builder
	for i, h := range p.Host {
		if i > 0 && j.Layout.Replica(proto.Proc(i)) != j.Layout.Replica(proto.Proc(i-1)) {
			text.WriteByte(' ')
		}
		fmt.Fprint(&text, h)
	}
	return text.String()
}

func slotted(slots ...int) (hosts []Host) {
	for i, n := range slots {
		hosts = append(hosts, Host{Name: fmt.Sprint("h", i), Slots: n})
	}
	return hosts
}

func racked(racks string, slots int) (hosts []Host) {
	for i, r := range racks {
		hosts = append(hosts, Host{Name: fmt.Sprint("h", i), Slots: slots, Rack: string(r)})
	}
	return hosts
}

// Where processes are, and what is told.
func TestWhere(t *testing.T) {
	for name, tc := range map[string]struct {
		job   Job
		want  string
		notes string
	}{
		"one layer a host":         {Job{Layout: layout.Uniform(4, 2), Hosts: slotted(4, 4)}, "0000 1111", ""},
		"layers are rotated":       {Job{Layout: layout.Uniform(4, 2), Hosts: slotted(2, 2, 2, 2)}, "0011 2233", ""},
		"a layer goes on":          {Job{Layout: layout.Uniform(6, 2), Hosts: slotted(4, 4, 4)}, "000011 112222", ""},
		"room is left":             {Job{Layout: layout.Uniform(4, 1), Hosts: slotted(8, 8)}, "0000", ""},
		"spread evenly":            {Job{Layout: layout.Uniform(8, 2), Hosts: slotted(0, 0, 0)}, "00000011 11122222", ""},
		"spread over two":          {Job{Layout: layout.Uniform(5, 1), Hosts: slotted(0, 0)}, "00011", ""},
		"not over spares":          {Job{Layout: layout.Uniform(2, 2), Hosts: []Host{{}, {Spare: true}, {}}}, "00 22", ""},
		"one large host":           {Job{Layout: layout.Uniform(4, 2), Hosts: slotted(100, 2, 2)}, "0000 1122", ""},
		"racks apart":              {Job{Layout: layout.Uniform(4, 2), Hosts: racked("abab", 2)}, "0022 1133", ""},
		"racks apart, not spread":  {Job{Layout: layout.Uniform(4, 2), Hosts: racked("aaab", 0)}, "0012 3333", ""},
		"racks don't allow it":     {Job{Layout: layout.Uniform(4, 2), Hosts: racked("aaab", 2)}, "0011 2233", "replicas of a rank are on different hosts, but some share a rack, because there is no other way"},
		"one rack":                 {Job{Layout: layout.Uniform(1, 2), Hosts: racked("aa", 2)}, "0 1", "replicas of a rank are on different hosts, but some share a rack, because there is no other way"},
		"racks without replicas":   {Job{Layout: layout.Uniform(4, 1), Hosts: racked("aaab", 2)}, "0011", ""},
		"partial":                  {Job{Layout: layout.Partial([]int{3, 1, 1, 1}), Hosts: slotted(2, 2, 2)}, "0012 1 2", ""},
		"sharing":                  {Job{Layout: layout.Uniform(2, 2), Hosts: slotted(4), AllowShared: true}, "00 00", "up to 2 replicas of a rank share a host: they die with it"},
		"no sharing without need":  {Job{Layout: layout.Uniform(2, 2), Hosts: slotted(4, 4), AllowShared: true}, "00 11", ""},
		"oversubscribed":           {Job{Layout: layout.Uniform(4, 1), Hosts: slotted(1, 1), Oversubscribe: true}, "0011", "h0 has 2 processes on 1 slots"},
		"in proportion":            {Job{Layout: layout.Uniform(8, 1), Hosts: slotted(1, 3), Oversubscribe: true}, "00111111", "h0 has 2 processes on 1 slots"},
		"a program's own":          {Job{Layout: layout.Uniform(3, 1), Hosts: slotted(2, 2), Parts: []Part{{1, []int{1}}, {2, []int{0, 1}}}}, "100", ""},
		"another's hosts are left": {Job{Layout: layout.Uniform(4, 1), Hosts: slotted(2, 2), Parts: []Part{{2, nil}, {2, []int{0}}}}, "1100", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p, err := tc.job.Place()
			if err != nil {
				t.Fatal(err)
			}
			check(t, &tc.job, p)
			if got := hostsOf(&tc.job, p); got != tc.want || strings.Join(p.Notes, "; ") != tc.notes {
				t.Errorf("%s, %q", got, p.Notes)
			}
		})
	}
}

// The sentences about impossible jobs.
func TestImpossible(t *testing.T) {
	same := slotted(4, 4)
	same[0].Kernel, same[1].Kernel = "k", "k"
	spare := slotted(4, 4)
	spare[1].Spare = true
	for want, job := range map[string]Job{
		"2 replicas of a rank need 2 hosts, and there is 1 host: another host with 4 slots or --allow-shared-host (the replicas that share a host die with it) would be enough":                  {Layout: layout.Uniform(4, 2), Hosts: slotted(8)},
		"2 replicas of a rank need 2 hosts, and there is 1 host (h0 and h1 are the same machine): another host with 4 slots or --allow-shared-host (the replicas that share a host die with it)": {Layout: layout.Uniform(4, 2), Hosts: same},
		"there is 1 host that isn't spare: another host with 4 slots would be enough":                                                                                                            {Layout: layout.Uniform(4, 2), Hosts: spare},
		"3 replicas of a rank need 3 hosts, and there is 1 host: 2 more hosts with 2 slots each":                                                                                                 {Layout: layout.Uniform(2, 3), Hosts: slotted(8)},
		"8 ranks need 8 slots, and the hosts have 6: another host with 2 slots, -n 6 or --oversubscribe would":                                                                                   {Layout: layout.Uniform(8, 1), Hosts: slotted(4, 2)},
		"4 ranks with 2 replicas (8 processes) don't fit on the hosts: no host may have two replicas of a rank: another host with 2 slots, -n 2, --oversubscribe or --allow-shared-host":         {Layout: layout.Uniform(4, 2), Hosts: slotted(8, 2)},
	} {
		if _, err := job.Place(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v\nwant %s", err, want)
		}
	}
}

// A job as large as the largest: the wait is short.
func TestHuge(t *testing.T) {
	j := &Job{Layout: layout.Uniform(2048, 2), Hosts: slotted(slices.Repeat([]int{4}, 1024)...)}
	for i := range j.Hosts {
		j.Hosts[i].Rack = fmt.Sprint("r", i%16)
	}
	p, err := j.Place()
	if err != nil || len(p.Notes) > 0 {
		t.Fatal(p, err)
	}
	check(t, j, p)
}
