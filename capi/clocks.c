// The system's clocks, random numbers and process ids, in leader order (--order leader,clock). The
// functions here come before libc's, as this library's sigaction does. They pass each call on to
// libc's, unless it has to be the same in all replicas of the rank: then Go asks the leader.
//
// Not asked for are calls
//   - before MPI_Init, after MPI_Finalize, and in children of fork;
//   - of a thread that isn't led: of all but the one that called MPI_Init, unless threads are ordered;
//   - of a signal handler: it may have interrupted this library. It runs on the alternative
//     stack (signals.c), and so it is known;
//   - of this library, which may hold a lock, and of the library that has malloc, if that isn't the program: how often it looks at the clock
//     depends on what else is in memory;
//   - within such a call.
//
// The Go runtime has functions of its own.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "banyan.h"
#include "clocks.h"
#include "threads.h"

static int leads;            // some calls are asked for
static int of_threads;       // also those of other threads with names
static __thread int first;   // this thread has called MPI_Init
static __thread int asking;  // it asks the leader
static pid_t own_pid;        // of this process, which has called MPI_Init
static pid_t told_pid;       // what getpid has told; 0: nothing
static struct { uintptr_t from, to; } allocator; // the library that has malloc

// note_allocator is for dl_iterate_phdr: it looks for the library that has an address.
static int note_allocator(struct dl_phdr_info *info, size_t size, void *address)
{
	uintptr_t from = UINTPTR_MAX, to = 0;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *p = &info->dlpi_phdr[i];
		if (p->p_type != PT_LOAD)
			continue;
		uintptr_t begin = info->dlpi_addr + p->p_vaddr;
		from = begin < from ? begin : from;
		to = begin + p->p_memsz > to ? begin + p->p_memsz : to;
	}
	if ((uintptr_t)address < from || (uintptr_t)address >= to)
		return 0;
	if (info->dlpi_name[0])
		allocator.from = from, allocator.to = to;
	return 1;
}

void banyan_open_clocks(void)
{
	void *program = dlopen(NULL, RTLD_LAZY);
	if (program) {
		dl_iterate_phdr(note_allocator, dlsym(program, "malloc"));
		dlclose(program);
	}
	own_pid = banyan_libc.getpid();
	first = 1;
	__atomic_store_n(&leads, 1, __ATOMIC_RELEASE);
}

void banyan_clocks_of_threads(void)
{
	__atomic_store_n(&of_threads, leads, __ATOMIC_RELEASE);
}

void banyan_close_clocks(void)
{
	leads = of_threads = 0;
}

// The addresses of this library.
extern const char __ehdr_start[] __attribute__((visibility("hidden"))), _end[] __attribute__((visibility("hidden")));

// led says whether a call has to be the same in all replicas. Then asking is 1 until it is told.
static int led(void *caller)
{
	stack_t s;
	if (asking || !first && !(of_threads && banyan_thread()) ||
	    (const char *)caller >= __ehdr_start && (const char *)caller < _end ||
	    (uintptr_t)caller >= allocator.from && (uintptr_t)caller < allocator.to ||
	    sigaltstack(NULL, &s) != 0 || s.ss_flags & SS_ONSTACK)
		return 0;
	asking = 1;
	banyan_note_caller(caller);
	return 1;
}

// LEADS says that some calls are asked for. What they do has a function of its own: a call in the middle of
// one that goes on with libc's would make it save registers always.
#define LEADS UNLIKELY(__atomic_load_n(&leads, __ATOMIC_RELAXED))
#define COLD static __attribute__((cold, noinline))
#define CALLER __builtin_return_address(0)

static int64_t clock_of(int clock)
{
	int code = errno;
	int64_t t = banyan_led_clock(clock);
	errno = code;
	asking = 0;
	return t;
}

static uint64_t value_of(uint64_t own)
{
	int code = errno;
	uint64_t v = banyan_led_value(own);
	errno = code;
	asking = 0;
	return v;
}

static void random_of(void *bytes, size_t n)
{
	int code = errno;
	banyan_fill(bytes, n);
	banyan_led_random(bytes, n);
	errno = code;
	asking = 0;
}

// What getrusage tells are clocks as well: from here on, two for each of those that it knows.
enum { usage_clocks = 1 << 16 };

static struct timeval *part(struct rusage *u, int clock)
{
	return clock & 1 ? &u->ru_stime : &u->ru_utime;
}

int64_t banyan_own_clock(int clock)
{
	struct timespec t = {0};
	struct rusage u;
	if (clock >= usage_clocks) {
		banyan_libc.getrusage((clock - usage_clocks) / 2 - 1, &u);
		struct timeval *v = part(&u, clock);
		return (int64_t)v->tv_sec * 1000000000 + v->tv_usec * 1000;
	}
	banyan_libc.clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static void as_timespec(struct timespec *t, int64_t ns)
{
	*t = (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static void as_timeval(struct timeval *t, int64_t ns)
{
	*t = (struct timeval){.tv_sec = ns / 1000000000, .tv_usec = ns % 1000000000 / 1000};
}

COLD int led_clock_gettime(clockid_t clock, struct timespec *t, void *caller)
{
	int code = banyan_libc.clock_gettime(clock, t);
	if (code == 0 && led(caller))
		as_timespec(t, clock_of(clock));
	return code;
}

static int own_clock_gettime(clockid_t clock, struct timespec *t)
{
	return LEADS ? led_clock_gettime(clock, t, CALLER) : banyan_libc.clock_gettime(clock, t);
}

// A name of libc's may be another library's, if ours is loaded late.
int clock_gettime(clockid_t clock, struct timespec *t) __attribute__((alias("own_clock_gettime")));

COLD int led_gettimeofday(struct timeval *t, void *zone, void *caller)
{
	int code = banyan_libc.gettimeofday(t, zone);
	if (led(caller))
		as_timeval(t, clock_of(CLOCK_REALTIME));
	return code;
}

int gettimeofday(struct timeval *restrict t, void *restrict zone)
{
	return LEADS ? led_gettimeofday(t, zone, CALLER) : banyan_libc.gettimeofday(t, zone);
}

COLD time_t led_time(time_t *out, void *caller)
{
	if (!led(caller))
		return banyan_libc.time(out);
	time_t t = clock_of(CLOCK_REALTIME) / 1000000000;
	if (out)
		*out = t;
	return t;
}

time_t time(time_t *out)
{
	return LEADS ? led_time(out, CALLER) : banyan_libc.time(out);
}

COLD clock_t led_of_clock(void *caller)
{
	return led(caller) ? clock_of(CLOCK_PROCESS_CPUTIME_ID) / (1000000000 / CLOCKS_PER_SEC) : banyan_libc.clock();
}

clock_t clock(void)
{
	return LEADS ? led_of_clock(CALLER) : banyan_libc.clock();
}

COLD int led_timespec_get(struct timespec *t, int base, void *caller)
{
	if (base != TIME_UTC || !led(caller))
		return banyan_libc.timespec_get(t, base);
	as_timespec(t, clock_of(CLOCK_REALTIME));
	return base;
}

int timespec_get(struct timespec *t, int base)
{
	return LEADS ? led_timespec_get(t, base, CALLER) : banyan_libc.timespec_get(t, base);
}

COLD int led_getrusage(int who, struct rusage *usage, void *caller)
{
	int code = banyan_libc.getrusage(who, usage);
	for (int i = 0; code == 0 && i < 2 && led(caller); i++) {
		int clock = usage_clocks + 2 * (who + 1) + i;
		as_timeval(part(usage, clock), clock_of(clock));
	}
	return code;
}

int getrusage(__rusage_who_t who, struct rusage *usage)
{
	return LEADS ? led_getrusage((int)who, usage, CALLER) : banyan_libc.getrusage((int)who, usage);
}

COLD ssize_t led_getrandom(void *bytes, size_t n, unsigned flags, void *caller)
{
	enum { most = INT_MAX & ~4095 }; // as the kernel gives at once
	ssize_t code = banyan_libc.getrandom(bytes, n, flags);
	if (code <= 0 || !led(caller))
		return code;
	n = n < most ? n : most; // a signal may have ended it before
	random_of(bytes, n);
	return (ssize_t)n;
}

ssize_t getrandom(void *bytes, size_t n, unsigned flags)
{
	return LEADS ? led_getrandom(bytes, n, flags, CALLER) : banyan_libc.getrandom(bytes, n, flags);
}

COLD int led_getentropy(void *bytes, size_t n, void *caller)
{
	if (n > 256 || !led(caller))
		return banyan_libc.getentropy(bytes, n);
	random_of(bytes, n);
	return 0;
}

int getentropy(void *bytes, size_t n)
{
	return LEADS ? led_getentropy(bytes, n, CALLER) : banyan_libc.getentropy(bytes, n);
}

COLD void led_arc4random_buf(void *bytes, size_t n, void *caller)
{
	if (led(caller))
		random_of(bytes, n);
	else
		banyan_libc.arc4random_buf(bytes, n);
}

void arc4random_buf(void *bytes, size_t n)
{
	if (LEADS)
		led_arc4random_buf(bytes, n, CALLER);
	else
		banyan_libc.arc4random_buf(bytes, n);
}

COLD uint32_t led_arc4random(void *caller)
{
	uint32_t x;
	led_arc4random_buf(&x, sizeof x, caller);
	return x;
}

uint32_t arc4random(void)
{
	return LEADS ? led_arc4random(CALLER) : banyan_libc.arc4random();
}

COLD uint32_t led_arc4random_uniform(uint32_t bound, void *caller)
{
	uint32_t x, left = bound ? -bound % bound : 0; // so many numbers would make some likelier
	if (bound < 2)
		return 0;
	do
		x = led_arc4random(caller);
	while (x < left);
	return x % bound;
}

uint32_t arc4random_uniform(uint32_t bound)
{
	return LEADS ? led_arc4random_uniform(bound, CALLER) : banyan_libc.arc4random_uniform(bound);
}

COLD pid_t led_getpid(void *caller)
{
	if (!led(caller))
		return banyan_libc.getpid();
	pid_t pid = (pid_t)value_of((uint64_t)own_pid);
	__atomic_store_n(&told_pid, pid, __ATOMIC_RELAXED);
	return pid;
}

pid_t getpid(void)
{
	return LEADS ? led_getpid(CALLER) : banyan_libc.getpid();
}

// kill of the process that getpid has told is meant for this one.
int kill(pid_t pid, int sig)
{
	pid_t told = __atomic_load_n(&told_pid, __ATOMIC_RELAXED);
	return banyan_libc.kill(told && pid == told ? own_pid : pid, sig);
}

int banyan_clocks_are_ours(void)
{
	void *program = dlopen(NULL, RTLD_LAZY); // the program's names; RTLD_DEFAULT is ours
	int ours = program && dlsym(program, "clock_gettime") == (void *)own_clock_gettime;
	if (program)
		dlclose(program);
	return ours;
}
