package doctor

import (
	"fmt"
	"slices"
)

// State is how bad a finding is.
type State string

// States of a finding.
const (
	Fine    State = "ok"
	Warning State = "warning"
	Problem State = "problem"
)

// Finding is what is judged of one thing on one host.
type Finding struct {
	Host  string
	Check string // what was looked at
	State State
	Found string // in a few words
	Do    string // empty if it is fine
}

// Bad says whether a finding keeps jobs from running.
func Bad(all []Finding) bool {
	return slices.ContainsFunc(all, func(f Finding) bool { return f.State == Problem })
}

const (
	// filesFew is how many open files are too few for a job of some hundred processes: the launcher
	// has at least 5 for each (output, errors, lifeline, PMI, its handle).
	filesFew = 1024
	// filesNone is how many are too few for any job.
	filesNone = 64
	// tasksFew is how many further threads of a control group are few: heat has 8
	// in each of 16 processes, on two cores.
	tasksFew = 256
	// portsFew is how many ports are few: a process listens at one, and connects to each peer.
	portsFew = 4096
	// memoryFew is how much memory is little, in bytes.
	memoryFew = 256 << 20
	// loadMuch is how much of the cores others may use before measurements and heartbeats suffer.
	loadMuch = 0.5
)

// Machine judges a machine by itself.
func Machine(f *Facts) []Finding {
	j := judgement{host: f.Name}
	j.cores(f)
	j.limits(&f.Limits)
	j.memory(f)
	j.network(f)
	j.folders(f)
	if f.AllocationTrouble != "" {
		j.add("allocation", Problem, f.AllocationTrouble, "call banyan run once, in the batch script or after salloc, without srun")
	}
	if f.Batch != nil {
		j.batch(f.Batch)
	}
	return j.all
}

// judgement collects findings of a host.
type judgement struct {
	host string
	all  []Finding
}

func (j *judgement) add(check string, state State, found, do string) {
	j.all = append(j.all, Finding{j.host, check, state, found, do})
}

// either adds a finding that is fine, or what its trouble makes it.
func (j *judgement) either(check, trouble string, state State, fine, do string) {
	if trouble == "" {
		j.add(check, Fine, fine, "")
	} else {
		j.add(check, state, trouble, do)
	}
}

func (j *judgement) cores(f *Facts) {
	usable := float64(f.Affinity)
	if f.Quota > 0 {
		usable = min(usable, f.Quota)
	}
	found := fmt.Sprintf("%d of %d cores", f.Affinity, f.Cores)
	switch {
	case f.Affinity < 1:
		j.add("cores", Warning, "how many cores there are couldn't be found out", "pass -n, and --bind-to none")
	case f.Quota > 0 && f.Quota < float64(f.Affinity):
		j.add("cores", Warning, fmt.Sprintf("%s, and time of %.3g", found, f.Quota),
			"a control group bounds the time: start no more processes than that, or raise its cpu.max; processes that are stopped for it are taken for silent")
	case f.Affinity < f.Cores:
		j.add("cores", Warning, found, "this shell is bound to some cores (taskset, cpusets, an allocation), and jobs will be: that is right inside an allocation; otherwise begin from another shell")
	default:
		j.add("cores", Fine, found, "")
	}
	if f.Affinity > 0 && f.Load > loadMuch*usable+0.5 {
		j.add("load", Warning, fmt.Sprintf("%.3g processes want a core", f.Load), "something else computes here: jobs share the cores with it; a longer --heartbeat-timeout keeps processes that get no core from being looked at")
	} else {
		j.add("load", Fine, fmt.Sprintf("%.3g", f.Load), "")
	}
}

// limited is a limit for people.
func limited(n int64) string {
	if n == Unlimited {
		return "unlimited"
	}
	return fmt.Sprint(n)
}

func (j *judgement) limits(l *Limits) {
	const raise = "raise nofile in /etc/security/limits.conf (or LimitNOFILE of the service that starts shells there) to 4096 or more"
	switch n := l.Files; {
	case n == 0 || n == Unlimited || n >= filesFew:
		j.add("open files", Fine, limited(n), "")
	case n < filesNone:
		j.add("open files", Problem, fmt.Sprint(n), raise)
	default:
		j.add("open files", Warning, fmt.Sprint(n), "jobs of many processes need more: "+raise)
	}
	free := Unlimited
	if l.Tasks > 0 {
		free = max(0, l.Tasks-l.TasksNow)
	}
	if l.Processes > 0 && (free == Unlimited || l.Processes < free) {
		free = l.Processes
	}
	switch {
	case free == Unlimited:
		j.add("processes", Fine, "unlimited", "")
	case free < 16:
		j.add("processes", Problem, fmt.Sprintf("%d more threads", free), "raise ulimit -u, or the control group's pids.max: a process of a job has 8 threads or more")
	case free < tasksFew:
		j.add("processes", Warning, fmt.Sprintf("%d more threads", free), fmt.Sprintf("enough for %d processes: raise ulimit -u, or the control group's pids.max, for more", free/8))
	default:
		j.add("processes", Fine, fmt.Sprintf("%d threads", free), "")
	}
	if l.Address > 0 {
		j.add("address space", Problem, fmt.Sprintf("ulimit -v is %d KiB", l.Address>>10), "ulimit -v unlimited: Go reserves addresses that it doesn't use, and processes would fail at once")
	}
	if l.CPU > 0 {
		j.add("processor time", Warning, fmt.Sprintf("ulimit -t is %d s", l.CPU), "the kernel kills processes that compute longer: ulimit -t unlimited, or use another shell")
	}
}

func (j *judgement) memory(f *Facts) {
	j.either("shared memory", f.Memfd, Warning, "memfd works", "messages within the host will go over TCP, several times slower: allow memfd_create (a container's seccomp profile forbids it, or the kernel is older than 3.17)")
	switch {
	case f.MemoryFree > 0 && f.MemoryFree < memoryFew:
		j.add("memory", Warning, fmt.Sprintf("%d MiB are free", f.MemoryFree>>20), "each pair of processes on a host shares a ring of up to 1 MiB, beside what the program needs: end what else runs here")
	case f.MemoryFree > 0:
		j.add("memory", Fine, fmt.Sprintf("%d MiB are free", f.MemoryFree>>20), "")
	}
	switch {
	case f.SharedSize < 0:
		j.add("/dev/shm", Fine, "there is none", "")
	case f.SharedSize > 0:
		j.add("/dev/shm", Fine, fmt.Sprintf("%d of %d MiB are free; Banyan needs none of it", f.SharedFree>>20, f.SharedSize>>20), "")
	}
	const slower = "large messages within a host are copied twice; "
	switch {
	case f.ReadMemory != "":
		j.add("reading memory", Warning, f.ReadMemory, slower+"allow process_vm_readv (a container needs --cap-add SYS_PTRACE, or a seccomp profile that has it)")
	case f.Yama >= 2 && !f.Traces:
		j.add("reading memory", Warning, fmt.Sprintf("kernel.yama.ptrace_scope is %d", f.Yama), slower+"sysctl kernel.yama.ptrace_scope=1, as root, makes them fast")
	default:
		found := "allowed"
		if f.Yama >= 0 {
			found = fmt.Sprintf("allowed (kernel.yama.ptrace_scope is %d)", f.Yama)
		}
		j.add("reading memory", Fine, found, "")
	}
	j.either("handles of processes", f.Pidfd, Warning, "pidfd works", "deaths within a host are learnt from the launcher alone, and under other launchers by silence: use Linux 5.3 or newer")
}

func (j *judgement) network(f *Facts) {
	j.either("loopback", f.Loopback, Problem, "127.0.0.1 answers", "ip link set lo up, as root; a container needs a network namespace with a loopback device")
	if n := f.PortLast - f.PortFirst + 1; f.PortLast > 0 && n < portsFew {
		j.add("ports", Warning, fmt.Sprintf("the kernel chooses from %d", n), fmt.Sprintf("a job of many hosts needs one for each pair of processes: sysctl net.ipv4.ip_local_port_range='%d %d'", 32768, 60999))
	} else if f.PortLast > 0 {
		j.add("ports", Fine, fmt.Sprintf("%d to %d", f.PortFirst, f.PortLast), "")
	}
	j.either("name", f.Address, Warning, "it leads to an address of this machine", "processes of jobs on several hosts listen at their host's name: put it into /etc/hosts, or set BANYAN_ADDRESS on that host")
}

func (j *judgement) folders(f *Facts) {
	j.either("folder for sockets", f.Folder, Warning, "jobs can be asked", "banyan jobs, attach, top and hosts won't find jobs: set XDG_RUNTIME_DIR to a directory that only you may enter")
	if f.Temporary == "" {
		j.add("temporary files", Warning, "no directory lets programs start", "--stage won't work here: set TMPDIR to a directory that isn't mounted noexec")
	} else {
		j.add("temporary files", Fine, f.Temporary, "")
	}
}
