package hosts

import (
	"errors"
	"fmt"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"syscall"

	"golang.org/x/sys/unix"
)

// Host is one host of a Network.
type Host struct {
	Name string
	Addr netip.Addr

	tun *os.File // our end of its interface
	do  chan func()
}

// newHost makes a host on a thread of its own, which stays in its namespaces
// for good and starts its processes.
func newHost(name string, addr netip.Addr) (*Host, error) {
	h := &Host{Name: name, Addr: addr, do: make(chan func())}
	made := make(chan error)
	go onOwnThread(func() {
		err := h.enter()
		made <- err
		if err != nil {
			return
		}
		for f := range h.do {
			f()
		}
	})
	if err := <-made; err != nil {
		return nil, fmt.Errorf("multihost: host %s: %w", name, err)
	}
	return h, nil
}

// onOwnThread runs f on a thread that ends with it, so that no other goroutine is ever in f's
// namespaces. Go never ends the main thread: this goroutine keeps it, if it has it, until f is on
// another one.
func onOwnThread(f func()) {
	runtime.LockOSThread() // for good: a thread ends with the goroutine that it is locked to
	if unix.Gettid() != unix.Getpid() {
		f()
		return
	}
	elsewhere := make(chan struct{})
	go func() {
		runtime.LockOSThread()
		close(elsewhere)
		f()
	}()
	<-elsewhere
	runtime.UnlockOSThread()
}

// enter moves the calling thread to a new host.
func (h *Host) enter() error {
	if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWUTS); err != nil {
		return fmt.Errorf("new namespaces: %w", err)
	}
	if err := unix.Sethostname([]byte(h.Name)); err != nil {
		return fmt.Errorf("its name: %w", err)
	}
	tun, err := openTun(tunName)
	if err != nil {
		return err
	}
	if err := setUp(tunName, h.Addr); err != nil {
		tun.Close()
		return err
	}
	h.tun = tun
	return nil
}

// Do runs f on a thread of the host: sockets that f opens and processes that it starts are there.
// Threads and goroutines that it starts are not.
func (h *Host) Do(f func()) {
	done := make(chan struct{})
	h.do <- func() { defer close(done); f() }
	<-done
}

// Start starts a command on the host. It is killed when this process ends or the host is closed.
func (h *Host) Start(cmd *exec.Cmd) (err error) {
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Pdeathsig = syscall.SIGKILL // sent when this thread ends
	h.Do(func() { err = cmd.Start() })
	return err
}

// close takes the host's network away and ends its processes.
func (h *Host) close() {
	h.tun.Close()
	close(h.do)
}

// reexecVariable says that this process is the one that Reexec has started.
const reexecVariable = "BANYAN_TEST_HOSTS_REEXEC"

// Reexec gives a test binary that isn't root's the rights to make hosts: it
// starts it again in a user namespace, and returns its exit code. In TestMain:
//
//	if code, done := hosts.Reexec(); done {
//		os.Exit(code)
//	}
//
// done is false if that isn't needed, or isn't allowed.
func Reexec() (code int, done bool) {
	if os.Getuid() == 0 || os.Getenv(reexecVariable) != "" {
		return 0, false
	}
	cmd := exec.Command("/proc/self/exe", os.Args[1:]...)
	cmd.Env = append(os.Environ(), reexecVariable+"=1")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = os.Stdin, os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags:  syscall.CLONE_NEWUSER,
		UidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getuid(), Size: 1}},
		GidMappings: []syscall.SysProcIDMap{{ContainerID: 0, HostID: os.Getgid(), Size: 1}},
		Pdeathsig:   syscall.SIGKILL,
	}
	runtime.LockOSThread() // Pdeathsig is sent when the thread ends
	defer runtime.UnlockOSThread()
	if err := cmd.Start(); err != nil {
		return 0, false
	}
	err := cmd.Wait()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		return 1, true
	}
	return max(cmd.ProcessState.ExitCode(), -cmd.ProcessState.ExitCode()), true
}

// Unavailable says why this machine can't make hosts, nil if it can.
func Unavailable() error {
	n, err := NewNetwork(1, 0)
	if err != nil {
		return err
	}
	n.Close()
	return nil
}
