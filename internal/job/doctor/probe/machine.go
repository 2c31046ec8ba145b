// Package probe finds the facts that package doctor judges: of this machine (Machine, Batch), and,
// by the command banyan doctor --raw there, of others (Ask, Answer).
//
// # Invariants
//
//   - Every wait is bounded. Nothing is left behind: files, processes and sockets that are tried
//     are removed at once.
//   - What can't be found out is left zero, and isn't judged.
//
// # Limits
//
// Memory of another process isn't read: that depends on who started it. This process reads its own,
// which shows what forbids the system call, and package doctor judges Yama's setting by its number.
package probe

import (
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"

	"banyan/internal/job/agent/secure"
	"banyan/internal/job/console"
	"banyan/internal/job/doctor"
	"banyan/internal/job/hosts"
)

// tryLimit bounds the wait for a connection to this machine itself.
const tryLimit = 3 * time.Second

// Machine finds the facts of this machine.
func Machine() doctor.Facts {
	f := doctor.Facts{Build: secure.Build(), Boot: text("/proc/sys/kernel/random/boot_id"), Yama: -1, SharedSize: -1}
	f.Name, _ = os.Hostname()
	var name unix.Utsname
	if unix.Uname(&name) == nil {
		f.Kernel = unix.ByteSliceToString(name.Release[:])
	}
	cores(&f)
	limits(&f.Limits)
	memory(&f)
	f.Loopback = trouble(loopback())
	if low, high, both := strings.Cut(text("/proc/sys/net/ipv4/ip_local_port_range"), "\t"); both {
		f.PortFirst, f.PortLast = int(number(low)), int(number(high))
	}
	f.Address = trouble(address())
	_, err := console.MakeFolder()
	f.Folder, f.Temporary = trouble(err), temporary()
	return f
}

// trouble is an error in words; empty: none.
func trouble(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

// text is a small file without the space around it; empty if it can't be read.
func text(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// number reads a number; 0 if there is none.
func number(text string) int64 {
	n, err := strconv.ParseInt(strings.TrimSpace(text), 10, 64)
	if err != nil {
		return 0
	}
	return n
}

func cores(f *doctor.Facts) {
	f.Cores = runtime.NumCPU()
	if list := text("/sys/devices/system/cpu/online"); list != "" {
		f.Cores = countList(list)
	}
	var set unix.CPUSet
	if unix.SchedGetaffinity(0, &set) == nil {
		f.Affinity = set.Count()
	}
	if now, _, is := strings.Cut(text("/proc/loadavg"), " "); is {
		f.Load, _ = strconv.ParseFloat(now, 64)
	}
	for _, dir := range groups() {
		quota, period, both := strings.Cut(text(dir+"/cpu.max"), " ")
		if q, p := number(quota), number(period); both && q > 0 && p > 0 {
			if share := float64(q) / float64(p); f.Quota == 0 || share < f.Quota {
				f.Quota = share
			}
		}
	}
}

// countList counts what a list such as "0-3,7" names.
func countList(list string) (n int) {
	for part := range strings.SplitSeq(list, ",") {
		first, last, several := strings.Cut(part, "-")
		if !several {
			last = first
		}
		n += int(number(last)-number(first)) + 1
	}
	return n
}

// groups are the directories of this process's control groups, from its own upwards.
func groups() (all []string) {
	for line := range strings.Lines(text("/proc/self/cgroup")) {
		if path, is := strings.CutPrefix(strings.TrimSpace(line), "0::"); is {
			const root = "/sys/fs/cgroup"
			for dir := filepath.Join(root, path); len(dir) >= len(root); dir = filepath.Dir(dir) {
				all = append(all, dir)
			}
		}
	}
	return all
}

func limits(l *doctor.Limits) {
	for _, x := range []struct {
		which int
		soft  *int64
	}{{unix.RLIMIT_NOFILE, &l.Files}, {unix.RLIMIT_NPROC, &l.Processes}, {unix.RLIMIT_AS, &l.Address}, {unix.RLIMIT_CPU, &l.CPU}} {
		var r unix.Rlimit
		if unix.Getrlimit(x.which, &r) != nil {
			continue
		}
		if *x.soft = limit(r.Cur); x.which == unix.RLIMIT_NOFILE {
			*x.soft = limit(r.Max) // to which Go has raised the soft one, and will in programs
		}
	}
	for _, dir := range groups() {
		if most := number(text(dir + "/pids.max")); most > 0 && (l.Tasks == 0 || most-number(text(dir+"/pids.current")) < l.Tasks-l.TasksNow) {
			l.Tasks, l.TasksNow = most, number(text(dir+"/pids.current"))
		}
	}
}

// limit is a limit as doctor has it.
func limit(n uint64) int64 {
	if n >= 1<<62 {
		return doctor.Unlimited
	}
	return int64(n)
}

func memory(f *doctor.Facts) {
	for line := range strings.Lines(text("/proc/meminfo")) {
		if rest, is := strings.CutPrefix(line, "MemAvailable:"); is {
			f.MemoryFree = number(strings.TrimSuffix(strings.TrimSpace(rest), " kB")) << 10
		}
	}
	var fs unix.Statfs_t
	if unix.Statfs("/dev/shm", &fs) == nil {
		f.SharedSize, f.SharedFree = int64(fs.Blocks)*fs.Bsize, int64(fs.Bavail)*fs.Bsize
	}
	f.Memfd = trouble(memfd())
	if scope := text("/proc/sys/kernel/yama/ptrace_scope"); scope != "" {
		f.Yama = int(number(scope))
	}
	f.ReadMemory, f.Traces = trouble(readMemory()), traces()
	if fd, err := unix.PidfdOpen(os.Getpid(), 0); err != nil {
		f.Pidfd = trouble(os.NewSyscallError("pidfd_open", err))
	} else {
		unix.Close(fd)
	}
}

// memfd makes shared memory, and seals and maps it.
func memfd() error {
	fd, err := unix.MemfdCreate("banyan-doctor", unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return os.NewSyscallError("memfd_create", err)
	}
	defer unix.Close(fd)
	size := 1 << 20
	if err := unix.Ftruncate(fd, int64(size)); err != nil {
		return os.NewSyscallError("ftruncate", err)
	}
	b, err := unix.Mmap(fd, 0, size, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return os.NewSyscallError("mmap", err)
	}
	b[size-1] = 1
	if err := unix.Munmap(b); err != nil {
		return os.NewSyscallError("munmap", err)
	}
	_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK)
	return os.NewSyscallError("fcntl F_ADD_SEALS", err)
}

// readMemory reads memory of this process by the system call that reads others'.
func readMemory() error {
	from, to := []byte("banyan"), make([]byte, 6)
	var there runtime.Pinner
	there.Pin(&from[0])
	defer there.Unpin()
	local := []unix.Iovec{{Base: &to[0]}}
	local[0].SetLen(len(to))
	n, err := unix.ProcessVMReadv(os.Getpid(), local, []unix.RemoteIovec{{Base: uintptr(unsafe.Pointer(&from[0])), Len: len(from)}}, 0)
	switch {
	case err != nil:
		return os.NewSyscallError("process_vm_readv", err)
	case n != len(from) || string(to) != string(from):
		return errors.New("process_vm_readv reads something else")
	}
	return nil
}

// traces says whether this process has CAP_SYS_PTRACE.
func traces() bool {
	for line := range strings.Lines(text("/proc/self/status")) {
		if mask, is := strings.CutPrefix(line, "CapEff:"); is {
			n, err := strconv.ParseUint(strings.TrimSpace(mask), 16, 64)
			return err == nil && n>>unix.CAP_SYS_PTRACE&1 == 1
		}
	}
	return false
}

// loopback connects to this machine.
func loopback() error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	defer l.Close()
	c, err := net.DialTimeout("tcp", l.Addr().String(), tryLimit)
	if err == nil {
		c.Close()
	}
	return err
}

// address looks whether this machine's name leads to an address of it.
func address() error {
	here, err := hosts.FindHere()
	if err != nil {
		return err
	}
	found, err := net.LookupHost(here.Name)
	if err != nil {
		return err
	}
	for _, a := range found {
		if here.Is(a) {
			return nil
		}
	}
	return fmt.Errorf("%s is %s, which is no address of this machine", here.Name, strings.Join(found, ", "))
}

// temporary is a directory in which programs can be written and started; empty: there is none.
func temporary() string {
	for _, dir := range []string{os.TempDir(), "/tmp", "/dev/shm"} {
		var fs unix.Statfs_t
		if unix.Statfs(dir, &fs) != nil || fs.Flags&unix.ST_NOEXEC != 0 || fs.Flags&unix.ST_RDONLY != 0 || unix.Access(dir, unix.W_OK|unix.X_OK) != nil {
			continue
		}
		return dir
	}
	return ""
}

// Batch finds the facts of the allocation of Slurm that this process runs in; nil: it runs in none.
func Batch(s hosts.System) *doctor.Batch {
	job := s.Getenv("SLURM_JOB_ID")
	if job == "" {
		return nil
	}
	b := &doctor.Batch{Job: job, Nodes: int(number(s.Getenv("SLURM_JOB_NUM_NODES"))), Tasks: s.Getenv("SLURM_NTASKS") != "" || s.Getenv("SLURM_NTASKS_PER_NODE") != ""}
	if out, err := s.Output("srun", "--version"); err == nil {
		b.Version = strings.TrimSpace(out)
	}
	if out, err := s.Output("scontrol", "show", "config"); err == nil {
		for line := range strings.Lines(out) {
			if name, value, is := strings.Cut(line, "="); is && strings.TrimSpace(name) == "ProctrackType" {
				b.Proctrack = strings.TrimSpace(value)
			}
		}
	}
	return b
}
