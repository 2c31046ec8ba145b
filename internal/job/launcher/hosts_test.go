package launcher

import (
	"fmt"
	"reflect"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"banyan/internal/job/agent"
	"banyan/internal/job/env"
	"banyan/internal/layout"
	"banyan/internal/proto"
)

// A job on two hosts is one job: PMI tells who is where, each host's cores are divided among its
// own processes, and the report and the messages name the hosts.
func TestTwoHosts(t *testing.T) {
	hosts, agents := pretend(t, "a", "b")
	hosts[0].cores, hosts[1].cores = []int{0}, []int{0}
	if all := hosts[0].Local.Host().Cores; len(all) > 1 {
		hosts[0].cores, hosts[1].cores = all[:1], all[1:]
	}
	script := fmt.Sprintf(`echo $%s $(sed -n 's/^Cpus_allowed_list:\t//p' /proc/self/status)`, env.Cores)
	o := run(t, Config{Ranks: 2, Agents: agents, Places: []int{0, 1}, Bind: BindCore, Label: true, Program: "sh", Args: []string{"-c", script}})
	for rank, h := range hosts {
		if want := fmt.Sprintf("[%d] %d %d\n", rank, len(h.cores), h.cores[0]); !strings.Contains(o.stdout, want) {
			t.Errorf("stdout %q, want %q", o.stdout, want)
		}
	}
	_, agents = pretend(t, "a", "b")
	o = run(t, Config{Ranks: 2, Replicas: 2, Agents: agents, Places: layers(2, 2)}, "hosts")
	if o.stdout != "[0 0 1 1] <nil>\n" {
		t.Errorf("PMI tells %q", o.stdout)
	}
	_, agents = pretend(t, "a", "b")
	o = run(t, Config{Ranks: 2, Replicas: 2, Agents: agents, Places: layers(2, 2)}, "die", "1", "1", "kill")
	if want := `^banyan: rank 1 replica 1 \(pid \d+ on b\) died: signal 9 \(killed\); found by the launcher; replica 0 substitutes\n$`; !regexp.MustCompile(want).MatchString(o.stderr) {
		t.Errorf("stderr %q", o.stderr)
	}
	r := o.report
	if r.ExitCode != 0 || len(r.Deaths) != 1 || r.Deaths[0].Host != "b" || len(r.Hosts) != 2 {
		t.Fatalf("%+v", r)
	}
	for i, h := range r.Hosts {
		if want := []int{2 * i, 2*i + 1}; h.Name != "ab"[i:i+1] || !reflect.DeepEqual(h.Processes, want) || h.Cores == 0 || h.Lost != nil {
			t.Errorf("host %d: %+v", i, h)
		}
	}
}

// If one host can't start its processes, none is left on the others, and the user is told where.
func TestStartFailsOnOneHost(t *testing.T) {
	hosts, agents := pretend(t, "a", "b")
	o, err := tryRun(t, Config{Ranks: 2, Agents: agents, Places: []int{0, 1}, Program: "sh", Args: []string{"-c", "sleep 100"}, Bind: "1023"})
	if _, ok := err.(*StartError); !ok || !strings.Contains(err.Error(), "sh can't be bound to cores [1023] on a: ") {
		t.Errorf("%+v, %v", o.report, err)
	}
	hosts[1].starting = func(agent.Spec) { hosts[1].lose() }
	_, err = tryRun(t, Config{Ranks: 2, Agents: agents, Places: []int{0, 1}, Program: "sh", Args: []string{"-c", "sleep 100"}})
	if e, ok := err.(*StartError); !ok || e.Code != 1 || !strings.Contains(err.Error(), "the job can't be started on b: the host is lost") {
		t.Errorf("%v", err)
	}
	for _, p := range hosts[0].all {
		if syscall.Kill(p.PID(), 0) == nil {
			t.Error("a process is left")
		}
	}
}

func TestPlacesAreChecked(t *testing.T) {
	_, agents := pretend(t, "a", "b")
	for want, c := range map[string]Config{
		"there are no agents":                       {Ranks: 1, Places: []int{0}},
		"there are 3 processes, and places of 2":    {Ranks: 3, Agents: agents, Places: []int{0, 1}},
		"the place of process 1 is host 2 of 2":     {Ranks: 2, Agents: agents, Places: []int{0, 2}},
		"the place of process 0 is host -1 of 2":    {Ranks: 1, Agents: agents, Places: []int{-1}},
		"there are 1 processes, and places of 2 of": {Ranks: 2, Transport: TransportInproc, Agents: agents, Places: []int{0, 1}},
	} {
		if _, err := tryRun(t, c, "print", "x"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// A replacement stays on its predecessor's host, or goes to the host with the fewest processes, but
// never to one with another replica of its rank, nor to a lost one, whatever Rehome says.
func TestRehome(t *testing.T) {
	for _, tc := range []struct {
		name   string
		on     []int // of 2 ranks with 2 replicas: procs 0 and 2 are of rank 0
		lost   []int
		shared bool
		choose int // what Rehome says; -2: there is none
		host   int // for a replacement of process 0, which was on host 0; -1: none
	}{
		{"it stays", []int{-1, 0, 1, 1}, nil, false, -2, 0},
		{"its sibling is there", []int{-1, 1, 0, 2}, nil, false, -2, 1},
		{"its host is lost", []int{-1, -1, 1, 1}, []int{0}, false, -2, 2},
		{"no host is left", []int{-1, -1, 1, 1}, []int{0, 2}, false, -2, -1},
		{"a shared host is left", []int{-1, -1, 1, 1}, []int{0, 2}, true, -2, 1},
		{"chosen", []int{-1, 0, 1, 1}, nil, false, 2, 2},
		{"chosen beside its sibling", []int{-1, 0, 1, 1}, nil, false, 1, -1},
		{"chosen there all the same", []int{-1, 0, 1, 1}, nil, true, 1, 1},
		{"a lost one is chosen", []int{-1, 0, 1, 1}, []int{2}, false, 2, -1},
		{"none is chosen", []int{-1, 0, 1, 1}, nil, false, -1, -1},
	} {
		hosts, agents := pretend(t, "a", "b", "c")
		p := &plan{Config: Config{AllowSharedHost: tc.shared}, layout: layout.Uniform(2, 2), size: 4}
		if tc.choose != -2 {
			p.Rehome = func(id proto.Proc, on []int, living []bool) (int, bool) {
				if id != 0 || !reflect.DeepEqual(on, tc.on) || len(living) != 3 {
					t.Errorf("%s: it is asked for %v, %v, %v", tc.name, id, on, living)
				}
				return tc.choose, tc.choose >= 0
			}
		}
		h := newHosts(p, agents)
		for id, host := range tc.on {
			if host >= 0 {
				h.began(&process{id: proto.Proc(id), host: host})
			}
		}
		for _, i := range tc.lost {
			hosts[i].lose()
		}
		if host, ok := h.rehome(0, 0); ok != (tc.host >= 0) || ok && host != tc.host {
			t.Errorf("%s: host %d, %v, want %d", tc.name, host, ok, tc.host)
		}
	}
}

// A replacement on another host isn't bound to the cores that its predecessor had.
func TestBindMoved(t *testing.T) {
	for bind, want := range map[string][]int{BindAuto: nil, BindNone: nil, BindCore: {5}, "7,8": {8}} {
		p := &plan{Config: Config{Bind: bind}}
		load := map[int]int{4: 2, 5: 1, 6: 1}
		if got := p.bindMoved(3, []int{4, 5, 6}, func(core int) int { return load[core] }); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", bind, got, want)
		}
	}
}

func TestListed(t *testing.T) {
	for want, numbers := range map[string][]int{
		"": nil, "3": {3}, "3, 4": {3, 4}, "3-5": {3, 4, 5}, "0, 2, 4-7, 9, 10": {0, 2, 4, 5, 6, 7, 9, 10},
	} {
		if got := listed(numbers); got != want {
			t.Errorf("%v: %q, want %q", numbers, got, want)
		}
	}
}
