package instructions

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/sys/unix"
)

// patience is how long an operation may take: a thread that waits for a stopped one would wait
// for ever.
const patience = 15 * time.Second

var (
	errStuck = errors.New("the counted thread waits for something")
	errEnded = errors.New("the counted process has ended")
)

// steps counts the instructions of a process's first thread from mark to mark (int3), n times,
// after a first time that isn't counted. ready is called when the process is traced: only then
// may it come to its first mark. It goes on untraced afterwards, or is killed if that failed, and
// when ctx ends.
func steps(ctx context.Context, pid, n int, ready func() error, each func()) (operations []Operation, m maps, err error) {
	// All of ptrace is between two threads.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	t := &tracer{pid: pid}
	if err := ptrace(unix.PTRACE_SEIZE, pid, 0); err != nil {
		return nil, nil, fmt.Errorf("trace process %d: %w", pid, err)
	}
	defer share(pid).part()
	watch := time.AfterFunc(2*patience, func() {
		t.late.Store(true)
		t.kill()
	})
	stop := context.AfterFunc(ctx, t.kill)
	defer func() {
		watch.Stop()
		stop()
		t.release(err)
	}()
	if err := ready(); err != nil {
		return nil, nil, err
	}
	if err := t.proceed(); err != nil {
		return nil, nil, err
	}
	if err := t.stopOthers(); err != nil {
		return nil, nil, err
	}
	// In the first operation the thread finds that the others no longer run: its first entry into
	// Go may have to take a processor back that was taken from it.
	if err := ptrace(unix.PTRACE_CONT, pid, 0); err != nil {
		return nil, nil, err
	}
	if err := t.proceed(); err != nil {
		return nil, nil, err
	}
	t.mark = t.regs.Rip
	for range n {
		watch.Reset(patience)
		o, err := t.operation()
		if err != nil {
			return nil, nil, err
		}
		operations = append(operations, o)
		each()
	}
	m, err = readMaps(pid)
	return operations, m, err
}

type tracer struct {
	pid  int
	mark uint64
	regs unix.PtraceRegs
	late atomic.Bool // it was killed for that

	lock   sync.Mutex
	others []int // stopped
}

func ptrace(request, tid int, data uintptr) error {
	if _, _, e := unix.RawSyscall6(unix.SYS_PTRACE, uintptr(request), uintptr(tid), 0, data, 0, 0); e != 0 {
		return e
	}
	return nil
}

// wait waits for the next stop of a thread, and returns the signal that it is for, SIGTRAP for
// steps and marks. event says that it is one of ptrace's own events.
func (t *tracer) wait(tid int) (signal unix.Signal, event bool, err error) {
	var status unix.WaitStatus
	for {
		switch _, err := unix.Wait4(tid, &status, unix.WALL, nil); {
		case err == unix.EINTR:
		case err != nil:
			return 0, false, err
		case !status.Stopped() && t.late.Load():
			return 0, false, errStuck
		case !status.Stopped():
			return 0, false, errEnded
		default:
			return status.StopSignal(), int(status)>>16 != 0, nil
		}
	}
}

// proceed lets the thread run to the next mark at full speed.
func (t *tracer) proceed() error {
	for {
		signal, event, err := t.wait(t.pid)
		if err != nil {
			return err
		}
		if signal == unix.SIGTRAP && !event {
			return unix.PtraceGetRegs(t.pid, &t.regs)
		}
		if event {
			signal = 0
		}
		if err := ptrace(unix.PTRACE_CONT, t.pid, uintptr(signal)); err != nil {
			return err
		}
	}
}

// stopOthers stops the process's other threads.
func (t *tracer) stopOthers() error {
	for known := map[int]bool{t.pid: true}; ; {
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", t.pid))
		if err != nil {
			return err
		}
		found := false
		for _, e := range entries {
			tid, err := strconv.Atoi(e.Name())
			if err != nil || known[tid] {
				continue
			}
			known[tid], found = true, true
			if err := t.stop(tid); err != nil {
				return err
			}
		}
		if !found {
			return nil
		}
	}
}

func (t *tracer) stop(tid int) error {
	if err := ptrace(unix.PTRACE_SEIZE, tid, 0); err != nil {
		if err == unix.ESRCH {
			return nil // it has just ended
		}
		return err
	}
	if err := ptrace(unix.PTRACE_INTERRUPT, tid, 0); err != nil {
		return err
	}
	for {
		signal, event, err := t.wait(tid)
		if err != nil {
			return err
		}
		if event {
			t.lock.Lock()
			t.others = append(t.others, tid)
			t.lock.Unlock()
			return nil
		}
		if err := ptrace(unix.PTRACE_CONT, tid, uintptr(signal)); err != nil {
			return err
		}
	}
}

// release lets all threads go on, untraced. If err isn't nil it kills the process, whose state is
// unknown then.
func (t *tracer) release(err error) {
	if err == nil {
		for _, tid := range append(t.others, t.pid) {
			ptrace(unix.PTRACE_DETACH, tid, 0)
		}
		return
	}
	t.kill()
	t.reap(t.pid) // its parent learns of the end when its tracer has
}

// kill kills the process. The kernel reports the end of the first thread when the ends of all
// others have been reaped.
func (t *tracer) kill() {
	unix.Kill(t.pid, unix.SIGKILL)
	t.lock.Lock()
	defer t.lock.Unlock()
	for _, tid := range t.others {
		t.reap(tid)
	}
	t.others = nil
}

// reap waits for the end of a thread of a process that has been killed.
func (t *tracer) reap(tid int) {
	for {
		if _, _, err := t.wait(tid); err != nil {
			return
		}
		ptrace(unix.PTRACE_CONT, tid, 0)
	}
}

// operation steps to the next mark.
func (t *tracer) operation() (Operation, error) {
	var o Operation
	var signal unix.Signal
	for last := t.regs.Rip; ; {
		if err := ptrace(unix.PTRACE_SINGLESTEP, t.pid, uintptr(signal)); err != nil {
			return o, err
		}
		stop, event, err := t.wait(t.pid)
		switch {
		case err != nil:
			return o, err
		case event:
			signal = 0
			continue
		case stop != unix.SIGTRAP:
			signal = stop
			continue
		}
		signal = 0
		if err := unix.PtraceGetRegs(t.pid, &t.regs); err != nil {
			return o, err
		}
		at := t.regs.Rip
		if last != at { // each turn of a repeated instruction is a step
			o = append(o, last)
		}
		if last = at; at == t.mark {
			return o, nil
		}
	}
}
