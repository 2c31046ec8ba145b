// lane_owner.h: how C comes to own what it shares with Go, and what it asks first; for lane.c and
// commons.c.
#ifndef BANYAN_LANE_OWNER_H
#define BANYAN_LANE_OWNER_H

#include <sched.h>
#include <time.h>

#include "lane.h"

#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define LOAD(p) __atomic_load_n((p), __ATOMIC_RELAXED)

// pause_briefly passes a moment between two looks at memory that another core writes.
static inline void pause_briefly(void)
{
#if defined(__x86_64__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static inline bool take(struct lane_memory *m)
{
	uint32_t free = 0;
	return __atomic_compare_exchange_n(&m->word, &free, LANE_HELD, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
}

// take_soon is take where another thread may have the lock for a moment. It passes nobody who
// waits, either.
static inline bool take_soon(struct lane_memory *m)
{
	if (!UNLIKELY(!take(m)))
		return true;
	for (int tries = 1; m->turns != 0 && tries < 200; tries++) {
		if (tries % 50 == 0)
			sched_yield(); // its owner may need this core
		pause_briefly();
		if (LOAD(&m->word) == 0 && take(m))
			return true;
	}
	return false;
}

static inline int64_t now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static inline void give(struct lane_memory *m)
{
	if (UNLIKELY(__atomic_sub_fetch(&m->word, LANE_HELD, __ATOMIC_ACQ_REL) != 0))
		banyan_lane_released();
}

static inline bool closed(const struct lane_memory *m)
{
	return UNLIKELY(LOAD(&m->closed) != 0);
}

// size tells how many bytes a buffer has, if its type is a plain one.
static inline bool size(const struct lane_memory *m, const void *buf, int64_t count, MPI_Datatype datatype, uint64_t *bytes)
{
	uintptr_t type = (uintptr_t)datatype - LANE_FIRST_TYPE;
	if (UNLIKELY(type >= sizeof m->sizes || m->sizes[type] == 0 || (uint64_t)count >> 48 != 0))
		return false;
	*bytes = (uint64_t)count * m->sizes[type];
	return (uintptr_t)buf >= 4096 || *bytes == 0; // MPI_BOTTOM and the like are lower
}

#endif
