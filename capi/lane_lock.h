// lane_lock.h: locks of parts in words of the window's memory, and counts of events: the steps of
// window.Memory.TryLock and Tell, which say why they are right, in C.
#ifndef BANYAN_LANE_LOCK_H
#define BANYAN_LANE_LOCK_H

#include "lane_turn.h"

// lock_of says who has a part's lock alone, or wants it.
static inline uint32_t *lock_of(const struct lane_win *w, int part)
{
	return (uint32_t *)((char *)w->turns + part * LANE_CACHE_LINE + LANE_LOCK_AT);
}

// others_first says whether another member has waited so long for a part's lock that Go lets it pass.
static inline bool others_first(const struct lane_win *w, int part)
{
	uint32_t first = LOAD((uint32_t *)((char *)w->turns + part * LANE_CACHE_LINE + LANE_FIRST_AT));
	return first != 0 && first != (uint32_t)w->self + 1;
}

// in_row is a word of a member's row.
static inline uint32_t *in_row(const struct lane_win *w, int member, int row, int part)
{
	return (uint32_t *)((char *)w->counts + member * w->rows + row * w->row) + part;
}

// shares says whether a member shares the lock of a part; the part after the last one is all parts.
static inline bool shares(const struct lane_win *w, int member, int part)
{
	return __atomic_load_n(in_row(w, member, LANE_SHARES, part), __ATOMIC_SEQ_CST) != 0;
}

// lock_alone takes a part's lock alone, or returns false and wants it no more.
static inline bool lock_alone(const struct lane_win *w, int part)
{
	uint32_t *word = lock_of(w, part), own = (uint32_t)w->self + 1, wants = own | LANE_WANTED, free = 0;
	int looks = 0;
	while (!__atomic_compare_exchange_n(word, &free, wants, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED)) {
		if (!pass(&looks))
			return false;
		free = 0;
	}
	for (int member = 0; member < w->members; member++)
		while (member != w->self && UNLIKELY(shares(w, member, part) || shares(w, member, w->members)))
			if (!pass(&looks)) {
				__atomic_compare_exchange_n(word, &wants, 0, false, __ATOMIC_RELEASE, __ATOMIC_RELAXED);
				return false;
			}
	return __atomic_compare_exchange_n(word, &wants, own, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}

// lock_shared shares a part's lock, or returns false.
static inline bool lock_shared(const struct lane_win *w, int part)
{
	uint32_t *word = lock_of(w, part), *own = in_row(w, w->self, LANE_SHARES, part);
	int looks = 0;
	do {
		if (UNLIKELY(LOAD(word) != 0))
			continue;
		__atomic_store_n(own, 1, __ATOMIC_SEQ_CST);
		if (!UNLIKELY(__atomic_load_n(word, __ATOMIC_SEQ_CST) != 0))
			return true;
		__atomic_store_n(own, 0, __ATOMIC_RELEASE);
	} while (pass(&looks));
	return false;
}

static inline bool lock_part(const struct lane_win *w, int part, bool alone)
{
	if (UNLIKELY(others_first(w, part)))
		return false;
	return alone ? lock_alone(w, part) : lock_shared(w, part);
}

// all_free tells whether nobody has the lock of a part alone, or wants it.
static inline bool all_free(const struct lane_win *w)
{
	for (int part = 0; part < w->members; part++)
		if (UNLIKELY(__atomic_load_n(lock_of(w, part), __ATOMIC_SEQ_CST) != 0))
			return false;
	return true;
}

// lock_all shares the locks of all parts, or of none.
static inline bool lock_all(const struct lane_win *w)
{
	uint32_t *own = in_row(w, w->self, LANE_SHARES, w->members);
	int looks = 0;
	do {
		__atomic_store_n(own, 1, __ATOMIC_SEQ_CST);
		if (all_free(w))
			return true;
		__atomic_store_n(own, 0, __ATOMIC_RELEASE);
	} while (pass(&looks));
	return false;
}

static inline void unlock_part(const struct lane_win *w, int part, bool alone)
{
	if (alone)
		__atomic_store_n(lock_of(w, part), 0, __ATOMIC_RELEASE);
	else
		__atomic_store_n(in_row(w, w->self, LANE_SHARES, part), 0, __ATOMIC_RELEASE);
}

static inline void unlock_all(const struct lane_win *w) { unlock_part(w, w->members, false); }

// tell counts an event for a member, and says whether that one may sleep.
static inline bool tell(const struct lane_win *w, int event, int to)
{
	uint32_t *count = in_row(w, w->self, event, to);
	__atomic_store_n(count, LOAD(count) + 1, __ATOMIC_SEQ_CST);
	return __atomic_load_n((uint32_t *)((char *)w->turns + to * LANE_CACHE_LINE + LANE_DOZES_AT), __ATOMIC_SEQ_CST) != 0;
}

// told says whether a member has counted an event for this one that isn't used up.
static inline bool told(const struct lane_win *w, int event, int from, uint32_t seen)
{
	return __atomic_load_n(in_row(w, from, event, w->self), __ATOMIC_ACQUIRE) != seen;
}

#endif
