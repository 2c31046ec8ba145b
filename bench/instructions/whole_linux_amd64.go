package instructions

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// Whole counts the instructions of all threads of a Go process that does little, for a time, and
// how often it calls the function at an address. It ends the process: its threads are in the middle
// of something.
//
// Stepping makes the process some hundred times slower, so what it does must be done long before
// it is to do more. One thread isn't counted, the runtime's monitor (sysmon): what that does
// depends on the time that the others take.
func Whole(ctx context.Context, pid int, span time.Duration, function uintptr) (c Calls, err error) {
	runtime.LockOSThread() // all of ptrace is between threads
	defer runtime.UnlockOSThread()
	w := whole{pid: pid, last: map[int]uint64{}, counts: map[int]int{}, function: uint64(function)}
	kill := func() { unix.Kill(pid, unix.SIGKILL) }
	defer kill()
	if err := w.seizeAll(); err != nil {
		return c, err
	}
	monitor := w.monitor()
	begin := time.Now().Add(interruption)
	defer time.AfterFunc(interruption+span, kill).Stop()
	defer context.AfterFunc(ctx, kill)()
	for warm := false; len(w.last) > 0; {
		tid, status, err := w.wait()
		if err == unix.ECHILD { // the last has ended
			break
		}
		if err != nil {
			return c, err
		}
		if !status.Stopped() {
			delete(w.last, tid)
			continue
		}
		if !warm && time.Now().After(begin) {
			clear(w.counts)
			w.calls = 0
			warm = true
		}
		if err := w.step(tid, status); err != nil {
			return c, err
		}
	}
	if err := ctx.Err(); err != nil {
		return c, err
	}
	if time.Now().Before(begin.Add(span)) {
		return c, errEnded
	}
	for tid, n := range w.counts {
		if tid != monitor {
			c.Instructions += n
		}
	}
	c.Calls = w.calls
	return c, nil
}

// interruption is how long the process takes to calm down after its threads were interrupted: each
// finds that what it waited for hasn't come.
const interruption = time.Second

// whole is a process of which every thread is stepped.
type whole struct {
	pid      int
	last     map[int]uint64 // by thread: where it was
	counts   map[int]int    // by thread
	function uint64         // its address
	calls    int
}

// seizeAll begins to trace all threads, and those that they start.
func (w *whole) seizeAll() error {
	for found := true; found; {
		found = false
		entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", w.pid))
		if err != nil {
			return err
		}
		for _, e := range entries {
			tid, err := strconv.Atoi(e.Name())
			if _, known := w.last[tid]; err != nil || known {
				continue
			}
			switch err := ptrace(unix.PTRACE_SEIZE, tid, unix.PTRACE_O_TRACECLONE); err {
			case nil:
			case unix.ESRCH, unix.EPERM: // it has just ended, or its creator has been seized before it
				continue
			default:
				return fmt.Errorf("trace thread %d: %w", tid, err)
			}
			w.last[tid], found = 0, true
			if err := ptrace(unix.PTRACE_INTERRUPT, tid, 0); err != nil && err != unix.ESRCH {
				return err
			}
		}
	}
	if len(w.last) == 0 {
		return fmt.Errorf("trace process %d: %w", w.pid, errEnded)
	}
	return nil
}

// monitor is the thread of the runtime's monitor: the first that the runtime starts.
func (w *whole) monitor() int {
	var tids []int
	for tid := range w.last {
		if tid != w.pid {
			tids = append(tids, tid)
		}
	}
	if len(tids) == 0 {
		return 0
	}
	return slices.Min(tids)
}

// wait waits for the next stop or end of a thread. Only this thread's tracees count: the
// bench has other children.
func (w *whole) wait() (tid int, status unix.WaitStatus, err error) {
	for {
		tid, err = unix.Wait4(-1, &status, unix.WALL|unix.WNOTHREAD, nil)
		if err != unix.EINTR {
			return tid, status, err
		}
	}
}

// step counts the step that a thread has made, if it has, and lets it make the next.
func (w *whole) step(tid int, status unix.WaitStatus) error {
	signal := status.StopSignal()
	if event := int(status)>>16 != 0; event {
		signal = 0
	} else if signal == unix.SIGTRAP {
		signal = 0
		var regs unix.PtraceRegs
		if err := unix.PtraceGetRegs(tid, &regs); err != nil && err != unix.ESRCH {
			return err
		}
		if regs.Rip != w.last[tid] { // each turn of a repeated instruction is a step
			w.counts[tid]++
			if regs.Rip == w.function {
				w.calls++
			}
		}
		w.last[tid] = regs.Rip
	}
	if _, known := w.last[tid]; !known {
		w.last[tid] = 0
	}
	if err := ptrace(unix.PTRACE_SINGLESTEP, tid, uintptr(signal)); err != nil && err != unix.ESRCH {
		return err
	}
	return nil
}
