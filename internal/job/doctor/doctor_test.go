package doctor

import (
	"slices"
	"strings"
	"testing"
)

// healthy is a machine where nothing is in the way.
func healthy() Facts {
	return Facts{Name: "h", Build: "b", Boot: "k", Cores: 8, Affinity: 8, Limits: Limits{Files: 4096, Processes: Unlimited, Address: Unlimited, CPU: Unlimited},
		MemoryFree: 8 << 30, SharedSize: 64 << 20, SharedFree: 64 << 20, Yama: 1, PortFirst: 32768, PortLast: 60999, Temporary: "/tmp"}
}

// find finds the one finding that isn't fine; nil: there is none.
func find(t *testing.T, all []Finding) *Finding {
	t.Helper()
	var bad []Finding
	for _, f := range all {
		if f.Check == "" || f.Found == "" || (f.State == Fine) != (f.Do == "") || f.Host == "" {
			t.Errorf("%+v isn't whole", f)
		}
		if f.State != Fine {
			bad = append(bad, f)
		}
	}
	switch len(bad) {
	case 0:
		return nil
	case 1:
		return &bad[0]
	}
	t.Fatalf("several findings: %+v", bad)
	return nil
}

// Each thing that is wrong with a machine is found, for what it is, and nothing else.
func TestMachine(t *testing.T) {
	if f := healthy(); find(t, Machine(&f)) != nil || Bad(Machine(&f)) {
		t.Errorf("a healthy machine: %+v", Machine(&f))
	}
	for _, tc := range []struct {
		name  string
		wrong func(f *Facts)
		check string
		state State
		do    string // a part of it
	}{
		{"no cores known", func(f *Facts) { f.Affinity, f.Cores = 0, 0 }, "cores", Warning, "-n"},
		{"bound", func(f *Facts) { f.Affinity = 2 }, "cores", Warning, "taskset"},
		{"quota", func(f *Facts) { f.Quota = 1.5 }, "cores", Warning, "cpu.max"},
		{"busy", func(f *Facts) { f.Load = 6 }, "load", Warning, "--heartbeat-timeout"},
		{"busy for its quota", func(f *Facts) { f.Cores, f.Affinity, f.Load = 2, 2, 1.6 }, "load", Warning, ""},
		{"few files", func(f *Facts) { f.Limits.Files = 256 }, "open files", Warning, "limits.conf"},
		{"no files", func(f *Facts) { f.Limits.Files = 20 }, "open files", Problem, "limits.conf"},
		{"few processes", func(f *Facts) { f.Limits.Processes = 100 }, "processes", Warning, "ulimit -u"},
		{"few tasks", func(f *Facts) { f.Limits.Tasks, f.Limits.TasksNow = 500, 400 }, "processes", Warning, "pids.max"},
		{"no tasks", func(f *Facts) { f.Limits.Tasks, f.Limits.TasksNow = 500, 499 }, "processes", Problem, "pids.max"},
		{"more tasks than are allowed", func(f *Facts) { f.Limits.Tasks, f.Limits.TasksNow = 500, 600 }, "processes", Problem, "pids.max"},
		{"addresses", func(f *Facts) { f.Limits.Address = 1 << 30 }, "address space", Problem, "ulimit -v unlimited"},
		{"time", func(f *Facts) { f.Limits.CPU = 60 }, "processor time", Warning, "ulimit -t"},
		{"memory", func(f *Facts) { f.MemoryFree = 100 << 20 }, "memory", Warning, "end what else"},
		{"memfd", func(f *Facts) { f.Memfd = "memfd_create: operation not permitted" }, "shared memory", Warning, "seccomp"},
		{"seccomp", func(f *Facts) { f.ReadMemory = "process_vm_readv: operation not permitted" }, "reading memory", Warning, "SYS_PTRACE"},
		{"Yama", func(f *Facts) { f.Yama = 2 }, "reading memory", Warning, "sysctl kernel.yama.ptrace_scope=1"},
		{"no pidfd", func(f *Facts) { f.Pidfd = "pidfd_open: function not implemented" }, "handles of processes", Warning, "Linux 5.3"},
		{"no loopback", func(f *Facts) { f.Loopback = "connection refused" }, "loopback", Problem, "ip link set lo up"},
		{"ports", func(f *Facts) { f.PortLast = f.PortFirst + 100 }, "ports", Warning, "ip_local_port_range"},
		{"name", func(f *Facts) { f.Address = "no such host" }, "name", Warning, "/etc/hosts"},
		{"folder", func(f *Facts) { f.Folder = "not a directory" }, "folder for sockets", Warning, "XDG_RUNTIME_DIR"},
		{"noexec", func(f *Facts) { f.Temporary = "" }, "temporary files", Warning, "TMPDIR"},
		{"srun of a step", func(f *Facts) { f.AllocationTrouble = "srun has started this command 4 times" }, "allocation", Problem, "without srun"},
		{"no srun", func(f *Facts) { f.Batch = &Batch{Nodes: 2, Tasks: true} }, "srun", Problem, "PATH"},
		{"pgid", func(f *Facts) { f.Batch = &Batch{Nodes: 2, Version: "slurm 22", Proctrack: "proctrack/pgid"} }, "ProctrackType", Warning, "proctrack/cgroup"},
		{"one node", func(f *Facts) { f.Batch = &Batch{Nodes: 1, Version: "slurm 22", Proctrack: "proctrack/cgroup"} }, "nodes", Warning, "--nodes"},
	} {
		f := healthy()
		tc.wrong(&f)
		all := Machine(&f)
		got := find(t, all)
		if got == nil || got.Check != tc.check || got.State != tc.state || !strings.Contains(got.Do, tc.do) || Bad(all) != (tc.state == Problem) {
			t.Errorf("%s: %+v", tc.name, got)
		}
	}
	for name, right := range map[string]func(f *Facts){
		"Yama, and the right to trace": func(f *Facts) { f.Yama, f.Traces = 3, true },
		"no Yama":                      func(f *Facts) { f.Yama = -1 },
		"no /dev/shm":                  func(f *Facts) { f.SharedSize = -1 },
		"a full /dev/shm":              func(f *Facts) { f.SharedFree = 0 },
		"limits unknown":               func(f *Facts) { f.Limits = Limits{} },
		"a wide quota":                 func(f *Facts) { f.Quota = 16 },
		"an allocation": func(f *Facts) {
			f.Batch = &Batch{Nodes: 4, Version: "slurm 22", Proctrack: "proctrack/cgroup", Tasks: true}
		},
	} {
		f := healthy()
		if right(&f); find(t, Machine(&f)) != nil {
			t.Errorf("%s: %+v", name, find(t, Machine(&f)))
		}
	}
}

// So it is with other hosts; one that can't be asked is judged by what it or ssh has said.
func TestHosts(t *testing.T) {
	here := healthy()
	other := func() Host {
		h := Host{Name: "h1", Facts: healthy(), Within: 0.001, Slots: 4}
		h.Facts.Boot = "another"
		return h
	}
	if got := find(t, Hosts(&here, []Host{other()})); got != nil {
		t.Errorf("a healthy host: %+v", got)
	}
	for _, tc := range []struct {
		name  string
		wrong func(h *Host)
		check string
		state State
		do    string
	}{
		{"key", func(h *Host) { h.Trouble = "me@h1: Permission denied (publickey)." }, "login", Problem, "ssh-copy-id h1"},
		{"host key", func(h *Host) { h.Trouble = "Host key verification failed." }, "login", Problem, "ssh h1"},
		{"name", func(h *Host) { h.Trouble = "ssh: Could not resolve hostname h1" }, "login", Problem, "/etc/hosts"},
		{"no sshd", func(h *Host) { h.Trouble = "ssh: connect to host h1 port 22: Connection refused" }, "login", Problem, "sshd"},
		{"no power", func(h *Host) { h.Trouble = "ssh: connect to host h1 port 22: Connection timed out" }, "login", Problem, "power"},
		{"no route", func(h *Host) { h.Trouble = "ssh: connect to host h1 port 22: No route to host" }, "login", Problem, "power"},
		{"no ssh", func(h *Host) { h.Trouble = `exec: "ssh": executable file not found in $PATH` }, "login", Problem, "--launch-agent"},
		{"no banyan", func(h *Host) { h.Trouble = "there is no banyan at /opt/banyan, nor in PATH" }, "login", Problem, "install banyan"},
		{"old banyan", func(h *Host) { h.Trouble = `banyan: unknown command "doctor" for "banyan"` }, "login", Problem, "older"},
		{"else", func(h *Host) { h.Trouble = "exit status 3" }, "login", Problem, "try: ssh h1 true"},
		{"build", func(h *Host) { h.Facts.Build = "c" }, "build", Problem, "copy"},
		{"firewall", func(h *Host) { h.Back = "i/o timeout" }, "way back", Problem, "firewall"},
		{"ahead", func(h *Host) { h.Ahead = 2 }, "clock", Warning, "chrony"},
		{"behind by hours", func(h *Host) { h.Ahead = -7200 }, "clock", Warning, "certificate"},
		{"this machine", func(h *Host) { h.Facts.Boot = here.Boot }, "machine", Warning, "--allow-shared-host"},
		{"slots", func(h *Host) { h.Slots = 9 }, "slots", Warning, "fewer slots"},
		{"its own trouble", func(h *Host) { h.Facts.Loopback = "refused" }, "loopback", Problem, "lo up"},
	} {
		h := other()
		tc.wrong(&h)
		got := find(t, Hosts(&here, []Host{h}))
		if got == nil || got.Check != tc.check || got.State != tc.state || got.Host != "h1" || !strings.Contains(got.Do, tc.do) {
			t.Errorf("%s: %+v", tc.name, got)
		}
	}
	unsure := other()
	unsure.Ahead, unsure.Within = 1.5, 1
	if got := find(t, Hosts(&here, []Host{unsure})); got != nil {
		t.Errorf("a clock that can't be read well: %+v", got)
	}
	twice := []Host{other(), other()}
	twice[1].Name = "h2"
	if got := find(t, Hosts(&here, twice)); got == nil || got.Host != "h2" || !strings.Contains(got.Found, "h1") {
		t.Errorf("two names of a machine: %+v", got)
	}
	all := Hosts(&here, []Host{other()})
	if !slices.ContainsFunc(all, func(f Finding) bool { return f.Check == "cores" && f.Host == "h1" }) {
		t.Error("a host isn't looked at itself")
	}
}
