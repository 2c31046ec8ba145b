package hosts

import (
	"context"
	"errors"
	"io"
	"net/netip"
	"reflect"
	"strings"
	"testing"
)

// system is one with these variables, files and commands.
func system(variables, files, commands map[string]string) System {
	return System{
		Getenv: func(name string) string { return variables[name] },
		Open: func(name string) (io.ReadCloser, error) {
			text, ok := files[name]
			if !ok {
				return nil, errors.New(name + ": no such file")
			}
			return io.NopCloser(strings.NewReader(text)), nil
		},
		Output: func(name string, args ...string) (string, error) {
			out, ok := commands[strings.Join(append([]string{name}, args...), " ")]
			if !ok {
				return "", errors.New("exit status 1")
			}
			return out, nil
		},
	}
}

func TestFindAllocation(t *testing.T) {
	hostnames := map[string]string{"scontrol show hostnames h[0-2]": "h0\nh1\nh2\n"}
	slurm := func(more ...string) map[string]string {
		v := map[string]string{"SLURM_JOB_ID": "17", "SLURM_JOB_NODELIST": "h[0-2]", "SLURM_JOB_CPUS_PER_NODE": "4(x2),3"}
		for _, s := range more {
			name, value, _ := strings.Cut(s, "=")
			v[name] = value
		}
		return v
	}
	three := func(slots ...int) *Allocation {
		return &Allocation{"Slurm job 17", List{{Name: "h0", Slots: slots[0]}, {Name: "h1", Slots: slots[1]}, {Name: "h2", Slots: slots[2]}}, true}
	}
	racks := three(4, 4, 3)
	racks.Hosts[0].Rack, racks.Hosts[1].Rack, racks.Hosts[2].Rack = "s0", "s0", "s1"
	pair := List{{Name: "a", Slots: 2}, {Name: "b", Slots: 1}}
	for name, tc := range map[string]struct {
		variables, files, commands map[string]string
		want                       *Allocation
		err                        string
	}{
		"none":           {},
		"CPUs":           {slurm(), nil, hostnames, three(4, 4, 3), ""},
		"CPUs of a task": {slurm("SLURM_CPUS_PER_TASK=2"), nil, hostnames, three(2, 2, 1), ""},
		"tasks":          {slurm("SLURM_NTASKS=6", "SLURM_TASKS_PER_NODE=2(x3)"), nil, hostnames, three(2, 2, 2), ""},
		"this node's":    {slurm("SLURM_JOB_CPUS_PER_NODE=", "SLURM_CPUS_ON_NODE=8"), nil, hostnames, three(8, 8, 8), ""},
		"topology": {slurm(), nil, map[string]string{"scontrol show hostnames h[0-2]": "h0\nh1\nh2\n", "scontrol show hostnames h[0-1]": "h0\nh1\n", "scontrol show hostnames h2": "h2\n",
			"scontrol show topology": "SwitchName=s0 Level=0 LinkSpeed=1 Nodes=h[0-1]\nSwitchName=s1 Level=0 LinkSpeed=1 Nodes=h2\nSwitchName=top Level=1 LinkSpeed=1 Nodes=h[0-2] Switches=s[0-1]\n"}, racks, ""},
		"too few counts":  {slurm("SLURM_JOB_CPUS_PER_NODE=4(x2)"), nil, hostnames, nil, "SLURM_JOB_CPUS_PER_NODE is \"4(x2)\": it is for 2 nodes, and the job has 3"},
		"too many counts": {slurm("SLURM_JOB_CPUS_PER_NODE=4(x9)"), nil, hostnames, nil, "more than the 3 nodes"},
		"bad counts":      {slurm("SLURM_JOB_CPUS_PER_NODE=4(x2"), nil, hostnames, nil, "4(x2)"},
		"no counts":       {slurm("SLURM_JOB_CPUS_PER_NODE="), nil, hostnames, nil, "neither"},
		"no scontrol":     {slurm(), nil, nil, nil, "scontrol show hostnames h[0-2]: exit status 1"},
		"several times":   {slurm("SLURM_STEP_NUM_TASKS=3"), nil, hostnames, nil, "start it once, without srun"},
		"PBS":             {map[string]string{"PBS_JOBID": "5.pbs", "PBS_NODEFILE": "/n"}, map[string]string{"/n": "a\na\nb\n"}, nil, &Allocation{"PBS job 5.pbs", pair, false}, ""},
		"PBS, one slot a host": {map[string]string{"PBS_JOBID": "5.pbs", "PBS_NODEFILE": "/n"}, map[string]string{"/n": "a\nb\n"}, nil,
			&Allocation{"PBS job 5.pbs", List{{Name: "a", Slots: 1}, {Name: "b", Slots: 1}}, false}, ""},
		"PBS without its file": {map[string]string{"PBS_JOBID": "5", "PBS_NODEFILE": "/n"}, nil, nil, nil, "PBS job 5: PBS_NODEFILE: /n: no such file"},
		"MPI Operator":         {map[string]string{"HYDRA_HOST_FILE": "/etc/mpi/hostfile"}, map[string]string{"/etc/mpi/hostfile": "a:2\nb:1\n"}, nil, &Allocation{"HYDRA_HOST_FILE (/etc/mpi/hostfile)", pair, false}, ""},
		"MPI Operator, slots": {map[string]string{"OMPI_MCA_orte_default_hostfile": "/h", "OMPI_MCA_orte_set_default_slots": "2"}, map[string]string{"/h": "a\n"}, nil,
			&Allocation{"OMPI_MCA_orte_default_hostfile (/h)", List{{Name: "a", Slots: 2}}, false}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := FindAllocation(system(tc.variables, tc.files, tc.commands))
			if tc.err == "" && (err != nil || !reflect.DeepEqual(got, tc.want)) || tc.err != "" && (err == nil || !strings.Contains(err.Error(), tc.err)) {
				t.Errorf("%+v, %v", got, err)
			}
		})
	}
}

func FuzzCounts(f *testing.F) {
	f.Add("4(x2),3", 3)
	f.Add("4", 9)
	f.Fuzz(func(t *testing.T, text string, n int) {
		if n < 0 || n > 1000 {
			return
		}
		if all, err := counts(text, n); err == nil && len(all) != n {
			t.Fatalf("%q for %d nodes: %v", text, n, all)
		}
	})
}

func TestHere(t *testing.T) {
	h := Here{Name: "vm.site", addresses: []netip.Addr{netip.MustParseAddr("fe80::1"), netip.MustParseAddr("2001:db8::1"), netip.MustParseAddr("10.0.0.1"), netip.MustParseAddr("127.0.0.1")},
		look: func(_ context.Context, name string) ([]netip.Addr, error) {
			switch name {
			case "alias":
				return []netip.Addr{netip.MustParseAddr("10.0.0.1")}, nil
			case "far":
				return []netip.Addr{netip.MustParseAddr("10.0.0.2")}, nil
			}
			return nil, errors.New("no such host")
		}}
	for name, want := range map[string]bool{"vm": true, "VM.site": true, "localhost": true, "alias": true, "::1": true, "127.0.1.1": true, "10.0.0.1": true, "fe80::1%eth0": true,
		"far": false, "unknown": false, "10.0.0.2": false, "vm.other": false} {
		if h.Is(name) != want {
			t.Errorf("%s: %v", name, !want)
		}
	}
	if got := h.Addresses(); len(got) != 2 || got[0].String() != "10.0.0.1" || got[1].String() != "2001:db8::1" {
		t.Error(got)
	}
	list, at, err := h.Find(List{{Name: "far", Slots: 1}, {Name: "localhost", Slots: 2}, {Name: "vm", Slots: 3}})
	if want := (List{{Name: "far", Slots: 1}, {Name: "localhost", Slots: 5}}); err != nil || at != 1 || !reflect.DeepEqual(list, want) {
		t.Errorf("%+v, %d, %v", list, at, err)
	}
	if _, at, _ := h.Find(List{{Name: "far"}}); at != -1 {
		t.Error(at)
	}
	if real, err := FindHere(); err != nil || !real.Is("localhost") || !real.Is(real.Name) {
		t.Errorf("%+v, %v", real, err)
	}
}
