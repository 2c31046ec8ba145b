// The functions that this library's clocks.c comes before.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "clocks.h"

// What works before libc's functions are found. The dynamic linker may call malloc when it looks for
// them, and malloc may look at the clock.

static int system_clock_gettime(clockid_t clock, struct timespec *t)
{
	return (int)syscall(SYS_clock_gettime, clock, t);
}

static int system_gettimeofday(struct timeval *t, void *zone)
{
	return (int)syscall(SYS_gettimeofday, t, zone);
}

static time_t system_time(time_t *out)
{
	struct timespec t = {0};
	system_clock_gettime(CLOCK_REALTIME, &t);
	if (out)
		*out = t.tv_sec;
	return t.tv_sec;
}

static clock_t system_clock(void)
{
	struct timespec t = {0};
	system_clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * CLOCKS_PER_SEC + t.tv_nsec / (1000000000 / CLOCKS_PER_SEC);
}

static int system_timespec_get(struct timespec *t, int base)
{
	return base == TIME_UTC && system_clock_gettime(CLOCK_REALTIME, t) == 0 ? base : 0;
}

static int system_getrusage(int who, struct rusage *usage)
{
	return (int)syscall(SYS_getrusage, who, usage);
}

static ssize_t system_getrandom(void *bytes, size_t n, unsigned flags)
{
	return syscall(SYS_getrandom, bytes, n, flags);
}

void banyan_fill(void *bytes, size_t n)
{
	char *at = bytes;
	while (n > 0) {
		ssize_t got = system_getrandom(at, n, 0);
		if (got < 0 && errno != EINTR)
			abort();
		if (got > 0)
			at += got, n -= (size_t)got;
	}
}

static int system_getentropy(void *bytes, size_t n)
{
	if (n > 256) {
		errno = EIO;
		return -1;
	}
	banyan_fill(bytes, n);
	return 0;
}

static uint32_t system_arc4random(void)
{
	uint32_t x;
	banyan_fill(&x, sizeof x);
	return x;
}

static uint32_t system_arc4random_uniform(uint32_t bound)
{
	uint32_t x, left = bound ? -bound % bound : 0; // so many numbers would make some likelier
	if (bound < 2)
		return 0;
	do
		x = system_arc4random();
	while (x < left);
	return x % bound;
}

static pid_t system_getpid(void)
{
	return (pid_t)syscall(SYS_getpid);
}

static int system_kill(pid_t pid, int sig)
{
	return (int)syscall(SYS_kill, pid, sig);
}

struct banyan_libc banyan_libc = {
	system_clock_gettime, system_gettimeofday, system_time, system_clock, system_timespec_get, system_getrusage,
	system_getrandom, system_getentropy, system_arc4random, banyan_fill, system_arc4random_uniform, system_getpid, system_kill,
};

// find replaces a function by libc's, if that has it.
static void find(void *function, const char *name)
{
	void *f = dlsym(RTLD_NEXT, name);
	if (!f) // we come after the C library, as another library's dependency does
		f = dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), name);
	if (f)
		__atomic_store_n((void **)function, f, __ATOMIC_RELEASE);
}

#define FIND(name) find(&banyan_libc.name, #name)

// Before the Go runtime begins (signals.c), so that there is one thread.
__attribute__((constructor(101))) static void find_all(void)
{
	FIND(clock_gettime);
	FIND(gettimeofday);
	FIND(time);
	FIND(clock);
	FIND(timespec_get);
	FIND(getrusage);
	FIND(getrandom);
	FIND(getentropy);
	FIND(arc4random);
	FIND(arc4random_buf);
	FIND(arc4random_uniform);
	FIND(getpid);
	FIND(kill);
}
