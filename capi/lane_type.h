// lane_type.h: the data of types with gaps, for lane.c: what lies where is in a table that Go keeps
// (package lane, Type). Small data is copied here, between a program's memory and a ring.
#ifndef BANYAN_LANE_TYPE_H
#define BANYAN_LANE_TYPE_H

#include <string.h>

#include "lane.h"

// banyan_lane_type finds a type that the program has made, NULL if it isn't in the table. The lock is
// held.
static inline const struct lane_type *banyan_lane_type(const struct lane_memory *m, MPI_Datatype datatype)
{
	uint64_t handle = (uintptr_t)datatype;
	const struct lane_type *t = &m->types[(handle ^ handle >> 4) % LANE_TYPES];
	return handle != 0 && t->handle == handle ? t : NULL;
}

// BANYAN_STEPS copies n runs of each bytes. The compiler makes good code of it for each size.
#define BANYAN_STEPS(each)                                      \
	_Pragma("GCC unroll 4")                                 \
	for (; n > 0; n--, to += to_step, from += from_step)    \
		memcpy(to, from, (size_t)(each));               \
	return

static inline void banyan_lane_steps(char *to, int64_t to_step, const char *from, int64_t from_step, int64_t n, int64_t each)
{
	if (to_step == each && from_step == each) {
		memcpy(to, from, (size_t)(n * each));
		return;
	}
	switch (each) {
	case 1: BANYAN_STEPS(1);
	case 2: BANYAN_STEPS(2);
	case 4: BANYAN_STEPS(4);
	case 8: BANYAN_STEPS(8);
	case 12: BANYAN_STEPS(12);
	case 16: BANYAN_STEPS(16);
	case 24: BANYAN_STEPS(24);
	case 32: BANYAN_STEPS(32);
	default: BANYAN_STEPS(each);
	}
}

#undef BANYAN_STEPS

static inline void banyan_lane_step(bool pack, char *mem, int64_t mem_step, char *msg, int64_t msg_step, int64_t n, int64_t each)
{
	if (pack)
		banyan_lane_steps(msg, msg_step, mem, mem_step, n, each);
	else
		banyan_lane_steps(mem, mem_step, msg, msg_step, n, each);
}

// BANYAN_ENDS copies a run of one to two times the type's size: its first bytes and its last ones.
#define BANYAN_ENDS(type)                                            \
	do {                                                         \
		type first, last;                                    \
		memcpy(&first, from, sizeof first);                  \
		memcpy(&last, from + size - sizeof last, sizeof last); \
		memcpy(to, &first, sizeof first);                    \
		memcpy(to + size - sizeof last, &last, sizeof last); \
	} while (0)

// banyan_lane_run copies one run. A short one takes few instructions and no call, and sizes that
// differ share them, so that the processor guesses the way.
static inline void banyan_lane_run(char *to, const char *from, int64_t size)
{
	struct two { uint64_t words[2]; };
	if (size > 32)
		memcpy(to, from, (size_t)size);
	else if (size > 16)
		BANYAN_ENDS(struct two);
	else if (size >= 8)
		BANYAN_ENDS(uint64_t);
	else if (size >= 4)
		BANYAN_ENDS(uint32_t);
	else
		for (; size > 0; size--)
			*to++ = *from++;
}

#undef BANYAN_ENDS

// banyan_lane_runs copies one instance whose runs differ.
static inline void banyan_lane_runs(const struct lane_type *t, bool pack, char *mem, char *msg)
{
	const struct lane_run *run = t->runs, *end = run + t->count;
	if (pack)
		for (; run < end; msg += run->size, run++)
			banyan_lane_run(msg, mem + run->disp, run->size);
	else
		for (; run < end; msg += run->size, run++)
			banyan_lane_run(mem + run->disp, msg, run->size);
}

// BANYAN_FEW is how many instances are copied one by one. Of more, one run of all is copied after
// the other, so that a loop has one size.
enum { BANYAN_FEW = 3 };

// banyan_lane_move copies n instances between the program's memory and a message.
static inline void banyan_lane_move(const struct lane_type *t, bool pack, char *mem, char *msg, int64_t n)
{
	const struct lane_run *runs = t->runs;
	if (t->each == 0 && n <= BANYAN_FEW)
		for (; n > 0; n--, mem += t->extent, msg += t->size)
			banyan_lane_runs(t, pack, mem, msg);
	else if (t->each == 0)
		for (int64_t i = 0; i < t->count; msg += runs[i].size, i++)
			banyan_lane_step(pack, mem + runs[i].disp, t->extent, msg, t->size, n, runs[i].size);
	else if (t->count == 1)
		banyan_lane_step(pack, mem + t->first, t->extent, msg, t->size, n, t->each);
	else
		for (; n > 0; n--, mem += t->extent, msg += t->size)
			banyan_lane_step(pack, mem + t->first, t->stride, msg, t->each, t->count, t->each);
}

#endif
