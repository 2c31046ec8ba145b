// lane_turn.h: accumulates take turns: the steps of window.Memory.Begin and End, which says why they
// are right, in C.
#ifndef BANYAN_LANE_TURN_H
#define BANYAN_LANE_TURN_H

#include "lane_owner.h"

// TURN_LOOKS and TURN_YIELDS are how often C looks before Go waits, which knows of deaths.
#define TURN_LOOKS 300
#define TURN_YIELDS 100

static inline uint32_t *turn_of(const struct lane_win *w, int part) { return (uint32_t *)((char *)w->turns + part * LANE_CACHE_LINE); }

static inline uint32_t *count_of(const struct lane_win *w, int member, int part)
{
	return (uint32_t *)((char *)w->counts + member * w->rows) + part;
}

// pass passes a moment, and says whether to look once more.
static inline bool pass(int *looks)
{
	if (++*looks > TURN_LOOKS + TURN_YIELDS)
		return false;
	if (*looks > TURN_LOOKS)
		sched_yield(); // its owner may need this core
	else
		pause_briefly();
	return true;
}

// begin_among begins an accumulate among others, or returns false.
static inline bool begin_among(const struct lane_win *w, int part)
{
	uint32_t *turn = turn_of(w, part), *own = count_of(w, w->self, part);
	int looks = 0;
	do {
		if (UNLIKELY(LOAD(turn) != 0))
			continue;
		__atomic_fetch_add(own, 1, __ATOMIC_SEQ_CST);
		if (!UNLIKELY(__atomic_load_n(turn, __ATOMIC_SEQ_CST) != 0))
			return true;
		__atomic_fetch_sub(own, 1, __ATOMIC_SEQ_CST);
	} while (pass(&looks));
	return false;
}

static inline void end_among(const struct lane_win *w, int part)
{
	__atomic_fetch_sub(count_of(w, w->self, part), 1, __ATOMIC_RELEASE);
}

// begin_alone begins one that is alone at the part, or returns false.
static inline bool begin_alone(const struct lane_win *w, int part)
{
	uint32_t *turn = turn_of(w, part), free = 0;
	int looks = 0;
	while (!__atomic_compare_exchange_n(turn, &free, (uint32_t)w->self + 1, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
		if (!pass(&looks))
			return false;
		free = 0;
	}
	for (int member = 0; member < w->members; member++)
		while (UNLIKELY(__atomic_load_n(count_of(w, member, part), __ATOMIC_SEQ_CST) != 0))
			if (!pass(&looks)) {
				__atomic_store_n(turn, 0, __ATOMIC_RELEASE);
				return false;
			}
	return true;
}

static inline void end_alone(const struct lane_win *w, int part) { __atomic_store_n(turn_of(w, part), 0, __ATOMIC_RELEASE); }

#endif
