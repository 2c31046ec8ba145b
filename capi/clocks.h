// clocks.h: the system's clocks, random numbers and process ids in leader order; see clocks.c.
#ifndef BANYAN_CLOCKS_H
#define BANYAN_CLOCKS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/types.h>
#include <time.h>

#pragma GCC visibility push(hidden)

// banyan_libc are the functions that the program would have called without this library.
extern struct banyan_libc {
	int (*clock_gettime)(clockid_t, struct timespec *);
	int (*gettimeofday)(struct timeval *, void *);
	time_t (*time)(time_t *);
	clock_t (*clock)(void);
	int (*timespec_get)(struct timespec *, int);
	int (*getrusage)(int, struct rusage *);
	ssize_t (*getrandom)(void *, size_t, unsigned);
	int (*getentropy)(void *, size_t);
	uint32_t (*arc4random)(void);
	void (*arc4random_buf)(void *, size_t);
	uint32_t (*arc4random_uniform)(uint32_t);
	pid_t (*getpid)(void);
	int (*kill)(pid_t, int);
} banyan_libc;

// banyan_fill fills memory with random bytes, or ends the process: it can't go on without.
void banyan_fill(void *bytes, size_t n);

// banyan_open_clocks has this thread, and others once banyan_clocks_of_threads was called, ask the
// leader of the rank. banyan_close_clocks ends that.
void banyan_open_clocks(void);
void banyan_clocks_of_threads(void);
void banyan_close_clocks(void);

// banyan_clocks_are_ours says whether the program's calls come to this library.
int banyan_clocks_are_ours(void);

// banyan_own_clock is what a clock of this process tells, in nanoseconds.
int64_t banyan_own_clock(int clock);

#pragma GCC visibility pop

#endif
