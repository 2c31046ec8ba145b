// The threads that the Go runtime creates in this library: the linker has it call __wrap_pthread_create
// (main.go), also where another library's pthread_create comes before ours.
//
// One of them is the runtime's monitor. After each call of the program into Go it wakes every 20 µs, for a
// millisecond, and again when it takes the call's processor back after 10 ms: thousands of times a second in a
// program that communicates each few milliseconds and computes between. Each time it takes the core from the
// computing thread. What it then looks for is less urgent: whether a goroutine has run for 10 ms, and whether a
// call holds one of Go's processors that another goroutine wants; join sees to it that there are more of those than
// are wanted. So the kernel may wake it later, together with others: its timer slack is long. See
// docs/design/decisions/0112-monitor.md.
//
// The first thread that the runtime creates is the one that begins it. That one creates the monitor before all
// others (runtime.main). A thread inherits its slack from its creator.

#define _GNU_SOURCE
#include <pthread.h>
#include <sys/prctl.h>

#include "threads.h"

enum { THE_MONITOR = 2 };          // in the order of creation
static const int slack = 10000000; // the monitor's, in ns: as long as it sleeps of itself when nothing happens

__attribute__((visibility("hidden"))) int __wrap_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *with)
{
	static int created, usual; // how many; the slack of the thread that created the monitor
	int has = prctl(PR_GET_TIMERSLACK), gives = has;
	if (__atomic_add_fetch(&created, 1, __ATOMIC_RELAXED) == THE_MONITOR) {
		usual = has;
		gives = slack;
	} else if (usual && has == slack) // the monitor creates a thread
		gives = usual;
	if (gives == has)
		return banyan_libc_pthread_create(thread, attributes, run, with);
	prctl(PR_SET_TIMERSLACK, gives);
	int code = banyan_libc_pthread_create(thread, attributes, run, with);
	prctl(PR_SET_TIMERSLACK, has);
	return code;
}
