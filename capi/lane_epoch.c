// Epochs of windows whose members share memory are begun and ended here, without entering Go, where
// nobody has to be waited for longer than some microseconds, and nobody has to be woken.
// docs/design/decisions/0133-locks-in-words.md tells why it is as it is.
//
// Invariants:
//
//   - Which epoch there is is known in lane.Win alone, which Go and C both change. Whatever isn't the
//     case here is Go's: the functions then return false, and the window is as it was.
//   - C changes words that others see as lane_lock.h says, and nothing of other members.
//   - Nothing that Go has under way is passed: then Go ends the epoch.
//   - The group of an epoch is one that Go has had for the last such epoch, and that hasn't been freed.

#include "commons.h"
#include "lane_lock.h"
#include "lane_window.h"
#include "lane_window_find.h"

static inline void ordered(void) { __atomic_thread_fence(__ATOMIC_SEQ_CST); }

// target_of is a rank's part, if C may lock parts.
static inline struct lane_target *target_of(struct lane_win *w, int rank)
{
	if (UNLIKELY(!w || w->locks == 0 || !w->turns || (uint32_t)rank >= (uint32_t)w->ranks))
		return NULL;
	return (struct lane_target *)w->targets + rank;
}

bool banyan_window_lock(int type, int rank, int assert, MPI_Win win)
{
	struct lane_win *w = find_window(win);
	struct lane_target *t = target_of(w, rank);
	uint32_t free = LANE_FREE_LOCK, hold = type == MPI_LOCK_EXCLUSIVE ? LANE_EXCLUSIVE : LANE_SHARED;
	if (!t || (type != MPI_LOCK_EXCLUSIVE && type != MPI_LOCK_SHARED) || (assert & ~MPI_MODE_NOCHECK) != 0 || LOAD(&w->mode) != LANE_NO_EPOCH ||
	    (LOAD(&w->passive) & LANE_ALL_LOCKED) != 0 ||
	    !__atomic_compare_exchange_n(&t->lock, &free, LANE_CHANGING, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
		return false;
	if (assert & MPI_MODE_NOCHECK) {
		hold |= LANE_UNCHECKED;
	} else if (!lock_part(w, t->part, type == MPI_LOCK_EXCLUSIVE)) {
		__atomic_store_n(&t->lock, LANE_FREE_LOCK, __ATOMIC_RELEASE);
		return false;
	}
	__atomic_store_n(&t->lock, hold, __ATOMIC_RELEASE);
	__atomic_fetch_add(&w->passive, 1, __ATOMIC_SEQ_CST);
	return true;
}

bool banyan_window_unlock(int rank, MPI_Win win)
{
	struct lane_win *w = find_window(win);
	struct lane_target *t = target_of(w, rank);
	if (!t || LOAD(&w->busy) != 0)
		return false;
	uint32_t hold = LOAD(&t->lock);
	if (hold == LANE_FREE_LOCK || (hold & LANE_CHANGING) != 0 ||
	    !__atomic_compare_exchange_n(&t->lock, &hold, LANE_CHANGING, false, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
		return false;
	if ((hold & LANE_UNCHECKED) == 0)
		unlock_part(w, t->part, (hold & LANE_EXCLUSIVE) != 0);
	__atomic_fetch_sub(&w->passive, 1, __ATOMIC_RELEASE);
	__atomic_store_n(&t->lock, LANE_FREE_LOCK, __ATOMIC_RELEASE);
	return true;
}

bool banyan_window_lock_all(int assert, MPI_Win win)
{
	struct lane_win *w = find_window(win);
	if (!target_of(w, 0) || (assert & ~MPI_MODE_NOCHECK) != 0 || LOAD(&w->mode) != LANE_NO_EPOCH || LOAD(&w->passive) != 0)
		return false;
	if ((assert & MPI_MODE_NOCHECK) == 0 && !lock_all(w))
		return false;
	__atomic_store_n(&w->passive, LANE_ALL_LOCKED | ((assert & MPI_MODE_NOCHECK) == 0 ? LANE_ALL_TAKEN : 0), __ATOMIC_SEQ_CST);
	return true;
}

bool banyan_window_unlock_all(MPI_Win win)
{
	struct lane_win *w = find_window(win);
	uint32_t passive = w ? LOAD(&w->passive) : 0;
	if (!target_of(w, 0) || LOAD(&w->busy) != 0 || (passive & LANE_ALL_LOCKED) == 0)
		return false;
	ordered();
	if (passive & LANE_ALL_TAKEN)
		unlock_all(w);
	__atomic_store_n(&w->passive, 0, __ATOMIC_RELEASE);
	return true;
}

// named says whether a group is the one that Go has had.
static inline bool named(const struct lane_group *g, MPI_Group group)
{
	uint64_t handle = __atomic_load_n(&g->handle, __ATOMIC_ACQUIRE);
	return handle != 0 && handle == (uintptr_t)group;
}

// tell_all counts an event for the ranks of a group, and has Go wake those that may sleep.
static void tell_all(struct lane_win *w, const struct lane_group *g, int event, MPI_Win win)
{
	bool sleeps = false;
	for (int i = 0; i < g->n; i++)
		sleeps |= tell(w, event, ((struct lane_target *)w->targets)[((const int32_t *)g->ranks)[i]].part);
	if (UNLIKELY(sleeps))
		banyan_window_nudge(win);
}

// seen is how many events of a kind a rank has counted that are used up.
static inline uint32_t *seen(struct lane_target *t, int event) { return event == LANE_EVENT_POSTED ? &t->posted : &t->ended; }

// await waits a little until each rank of a group has counted an event, and uses these up.
static bool await(struct lane_win *w, const struct lane_group *g, int event, bool wait)
{
	int looks = 0;
	for (int i = 0; i < g->n; i++) {
		struct lane_target *t = (struct lane_target *)w->targets + ((const int32_t *)g->ranks)[i];
		while (!told(w, event, t->part, LOAD(seen(t, event))))
			if (!wait || !pass(&looks))
				return false;
	}
	for (int i = 0; i < g->n; i++) {
		uint32_t *s = seen((struct lane_target *)w->targets + ((const int32_t *)g->ranks)[i], event);
		__atomic_store_n(s, LOAD(s) + 1, __ATOMIC_RELAXED);
	}
	return true;
}

bool banyan_window_post(MPI_Group group, int assert, MPI_Win win)
{
	struct lane_win *w = find_window(win);
	if (!w || (assert & ~(MPI_MODE_NOCHECK | MPI_MODE_NOSTORE | MPI_MODE_NOPUT)) != 0 || LOAD(&w->mode) == LANE_FENCED || LOAD(&w->exposed) != 0 || !named(&w->posted, group))
		return false;
	__atomic_store_n(&w->exposed, 1, __ATOMIC_RELAXED);
	tell_all(w, &w->posted, LANE_EVENT_POSTED, win);
	return true;
}

// may says that the epoch of MPI_Win_start is about the ranks of a group, or isn't any more.
static inline void may(struct lane_win *w, const struct lane_group *g, uint32_t is)
{
	for (int i = 0; i < g->n; i++)
		__atomic_store_n(&((struct lane_target *)w->targets)[((const int32_t *)g->ranks)[i]].may, is, __ATOMIC_RELAXED);
}

bool banyan_window_start(MPI_Group group, int assert, MPI_Win win)
{
	struct lane_win *w = find_window(win);
	if (!w || (assert & ~MPI_MODE_NOCHECK) != 0 || LOAD(&w->mode) != LANE_NO_EPOCH || LOAD(&w->passive) != 0 || !named(&w->started, group) ||
	    !await(w, &w->started, LANE_EVENT_POSTED, true))
		return false;
	may(w, &w->started, 1);
	__atomic_store_n(&w->mode, LANE_STARTED, __ATOMIC_RELEASE);
	ordered();
	return true;
}

bool banyan_window_complete(MPI_Win win)
{
	struct lane_win *w = find_window(win);
	if (!w || LOAD(&w->mode) != LANE_STARTED || LOAD(&w->busy) != 0 || w->started.handle == 0)
		return false;
	may(w, &w->started, 0);
	__atomic_store_n(&w->mode, LANE_NO_EPOCH, __ATOMIC_RELEASE);
	tell_all(w, &w->started, LANE_EVENT_COMPLETED, win);
	return true;
}

static inline bool wait_posted(MPI_Win win, bool wait)
{
	struct lane_win *w = find_window(win);
	if (!w || LOAD(&w->exposed) == 0 || w->posted.handle == 0 || !await(w, &w->posted, LANE_EVENT_COMPLETED, wait))
		return false;
	__atomic_store_n(&w->exposed, 0, __ATOMIC_RELEASE);
	ordered();
	return true;
}

bool banyan_window_wait(MPI_Win win) { return wait_posted(win, true); }

// A test in vain is Go's, which makes progress.
bool banyan_window_test(MPI_Win win, int *flag)
{
	if (!flag || !wait_posted(win, false))
		return false;
	*flag = 1;
	return true;
}
