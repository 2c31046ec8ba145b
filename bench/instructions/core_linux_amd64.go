package instructions

import "golang.org/x/sys/unix"

// sharedCore is the core that the tracing thread and the traced one have in common.
//
// A step is two switches between them. Between two cores each wakes a core that has nothing else to
// do, which takes a virtual machine up to 0.1 ms; an operation of 200,000 instructions would then
// take longer than [patience].
type sharedCore struct {
	tid    int
	before [2]unix.CPUSet // of this thread and of the traced one
}

// share lets this thread, which is locked to its goroutine, and thread tid run on one core only.
// Where the system refuses that, they go on as they were.
func share(tid int) *sharedCore {
	c := &sharedCore{tid: tid}
	if unix.SchedGetaffinity(0, &c.before[0]) != nil || unix.SchedGetaffinity(tid, &c.before[1]) != nil {
		return nil
	}
	var one unix.CPUSet
	for cpu := 0; one.Count() == 0; cpu++ {
		if cpu == 8*len(one)*8 {
			return nil
		}
		if c.before[0].IsSet(cpu) && c.before[1].IsSet(cpu) {
			one.Set(cpu)
		}
	}
	if unix.SchedSetaffinity(0, &one) != nil {
		return nil
	}
	unix.SchedSetaffinity(tid, &one)
	return c
}

// part gives both the cores back that they had.
func (c *sharedCore) part() {
	if c != nil {
		unix.SchedSetaffinity(0, &c.before[0])
		unix.SchedSetaffinity(c.tid, &c.before[1]) // it may have ended
	}
}
