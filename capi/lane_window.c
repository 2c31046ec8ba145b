// One-sided communication with a part of a window that this process can reach itself is done here,
// without entering Go, where nothing has to be decided. Package lane has what is shared with Go
// (lane.Win), and docs/design/decisions/0121-windows-without-go.md tells why it is as it is.
//
// Invariants:
//
//   - Whatever isn't the case below is Go's: the functions then return false and have changed nothing.
//     So C reports no error: what is wrong with an argument isn't the case.
//   - Go says which parts the epoch is about, and where they are. C never leaves a part, whatever the
//     arguments are.
//   - Nothing here needs the engine's lock: the program's threads use a window that lives, and Go
//     changes what C reads of it only in calls of the program that no access may run beside.
//   - An accumulate is among others or alone, as lane_turn.h says, for as long as it takes. It has
//     that from a member's words alone, so a death leaves nothing that Go doesn't clear.
//   - An element that doesn't lie at a multiple of its size is Go's, which is alone then.
//   - Another process's memory is accessed only while that process is known to live. Accumulates are
//     alone there, and pass no message that is under way.
//   - A flush has nothing to do if Go has nothing under way: what was done here was done at once.

#define _GNU_SOURCE
#include <poll.h>
#include <string.h>
#include <sys/uio.h>

#include "commons.h"
#include "lane_window.h"
#include "lane_window_find.h"
#include "lane_combine.h"
#include "lane_turn.h"

// FEW_BYTES is as much as is accumulated by instructions for elements; more is done alone.
#define FEW_BYTES 64
// MOST_ALONE bounds how long others wait.
#define MOST_ALONE (4 << 20)

// place is where an access goes. at is NULL if it is in another process.
struct place {
	struct lane_win *w;
	const struct lane_target *t;
	char *at;
	int64_t from;
};

// allowed says whether there is an epoch for a part.
static inline bool allowed(const struct lane_target *t, uint32_t mode, uint32_t passive)
{
	if (mode == LANE_STARTED)
		return LOAD(&t->may) != 0;
	if (passive == 0)
		return mode == LANE_FENCED;
	return (passive & LANE_ALL_LOCKED) != 0 || (LOAD(&t->lock) & (LANE_SHARED | LANE_EXCLUSIVE)) != 0;
}

// reach finds some bytes of a part, if the epoch allows it.
static inline bool reach(struct place *p, MPI_Win win, int rank, MPI_Aint disp, uint64_t bytes)
{
	struct lane_win *w = find_window(win);
	if (UNLIKELY(!w || (uint32_t)rank >= (uint32_t)w->ranks))
		return false;
	struct lane_target *t = (struct lane_target *)w->targets + rank;
	uint32_t mode = LOAD(&w->mode), passive = LOAD(&w->passive);
	int64_t from;
	if (UNLIKELY(!allowed(t, mode, passive)))
		return false;
	if (UNLIKELY((!t->at && t->pid == 0) || disp < 0 || __builtin_mul_overflow((int64_t)disp, t->unit, &from) || from > t->size || bytes > (uint64_t)(t->size - from)))
		return false;
	if (mode == LANE_FENCED && passive == 0 && LOAD(&w->used) == 0)
		__atomic_store_n(&w->used, 1, __ATOMIC_RELAXED);
	p->w = w, p->t = t, p->at = t->at ? (char *)t->at + from : NULL, p->from = from;
	return true;
}

// same is the number of bytes of both sides, if it is the same.
static inline bool same(const void *origin, int64_t count, MPI_Datatype datatype, int64_t target_count, MPI_Datatype target_datatype, uint64_t *bytes)
{
	static const char somewhere[4096];
	uint64_t there;
	return size(banyan_lane, origin, count, datatype, bytes) && size(banyan_lane, somewhere + 4095, target_count, target_datatype, &there) && there == *bytes;
}

// move copies, numbers by one instruction each.
static inline void move(char *to, const char *from, uint64_t bytes)
{
	switch (bytes) {
	case 8: {
		uint64_t v;
		memcpy(&v, from, 8);
		memcpy(to, &v, 8);
		return;
	}
	case 4: {
		uint32_t v;
		memcpy(&v, from, 4);
		memcpy(to, &v, 4);
		return;
	}
	}
	memmove(to, from, bytes);
}

// copy_other copies from or to another process. It lives before a write and after a read, since the
// system gives the numbers of the dead to others. It returns false if Go is to go on: what was
// written is written again.
static __attribute__((noinline)) bool copy_other(const struct place *p, char *own, uint64_t bytes, bool write)
{
	struct pollfd alive = {.fd = p->t->alive, .events = POLLIN};
	struct iovec here = {own, bytes}, there = {(void *)(uintptr_t)(p->t->base + (uint64_t)p->from), bytes};
	if (bytes == 0)
		return true;
	if (write)
		return poll(&alive, 1, 0) == 0 && process_vm_writev(p->t->pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
	return process_vm_readv(p->t->pid, &here, 1, &there, 1, 0) == (ssize_t)bytes && poll(&alive, 1, 0) == 0;
}

bool banyan_window_put(const void *origin, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	uint64_t bytes;
	struct place p;
	if (!same(origin, count, datatype, target_count, target_datatype, &bytes) || !reach(&p, win, rank, disp, bytes))
		return false;
	if (UNLIKELY(!p.at))
		return copy_other(&p, (char *)origin, bytes, true);
	move(p.at, origin, bytes);
	return true;
}

bool banyan_window_get(void *origin, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Win win)
{
	uint64_t bytes;
	struct place p;
	if (!same(origin, count, datatype, target_count, target_datatype, &bytes) || !reach(&p, win, rank, disp, bytes))
		return false;
	if (UNLIKELY(!p.at))
		return copy_other(&p, origin, bytes, false);
	move(origin, p.at, bytes);
	return true;
}

// combine_other does as combine in another process's memory, alone there: all that accumulate at the
// part take turns. What is under way there is by messages, and mustn't be passed.
static __attribute__((noinline)) bool combine_other(const struct place *p, enum number n, enum operation op, const char *origin, char *result, uint64_t bytes)
{
	char piece[16384] __attribute__((aligned(64)));
	struct pollfd alive = {.fd = p->t->alive, .events = POLLIN};
	bool good = true;
	if (LOAD(&p->w->busy) != 0 || !begin_alone(p->w, p->t->part))
		return false;
	for (uint64_t from = 0, some; good && from < bytes; from += some) {
		some = bytes - from < sizeof piece ? bytes - from : sizeof piece;
		struct iovec here = {piece, some}, there = {(void *)(uintptr_t)(p->t->base + (uint64_t)p->from + from), some};
		good = process_vm_readv(p->t->pid, &here, 1, &there, 1, 0) == (ssize_t)some && poll(&alive, 1, 0) == 0;
		if (good && result)
			memcpy(result + from, piece, some);
		if (good && op != NO_OP) {
			in_vectors(n, op, piece, origin + from, some / size_of(n));
			good = process_vm_writev(p->t->pid, &here, 1, &there, 1, 0) == (ssize_t)some;
		}
	}
	end_alone(p->w, p->t->part);
	return good;
}

// combine accumulates, and leaves what was there in result, unless that is NULL. origin isn't read
// if the operation needs none.
static bool combine(const struct place *p, enum number n, enum operation op, const char *origin, char *result, uint64_t bytes)
{
	const uint64_t each = size_of(n);
	if (UNLIKELY(!p->w->turns || bytes > MOST_ALONE))
		return false;
	if (UNLIKELY(!p->at))
		return combine_other(p, n, op, origin, result, bytes);
	if (UNLIKELY((uintptr_t)p->at % each != 0))
		return false;
	if (bytes <= FEW_BYTES) {
		if (!begin_among(p->w, p->t->part))
			return false;
		for (uint64_t i = 0; i < bytes; i += each) {
			uint64_t with = 0, was;
			if (op != NO_OP)
				memcpy(&with, origin + i, each);
			was = by_instruction(n, op, p->at + i, with);
			if (result)
				memcpy(result + i, &was, each);
		}
		end_among(p->w, p->t->part);
		return true;
	}
	if (!begin_alone(p->w, p->t->part))
		return false;
	if (result)
		memcpy(result, p->at, bytes);
	if (op != NO_OP)
		in_vectors(n, op, p->at, origin, bytes / each);
	end_alone(p->w, p->t->part);
	return true;
}

bool banyan_window_accumulate(const void *origin, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	uint64_t bytes;
	struct place p;
	enum number n = number(datatype);
	enum operation o = operation(op);
	if (!known(n, o) || o == NO_OP || datatype != target_datatype || count != target_count || !size(banyan_lane, origin, count, datatype, &bytes) ||
	    !reach(&p, win, rank, disp, bytes))
		return false;
	return combine(&p, n, o, origin, NULL, bytes);
}

// overlap says whether two rows of bytes do.
static inline bool overlap(const char *a, const char *b, uint64_t bytes) { return a < b + bytes && b < a + bytes; }

bool banyan_window_fetch(const void *origin, int64_t count, MPI_Datatype datatype, void *result, int64_t result_count, MPI_Datatype result_datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win)
{
	uint64_t bytes, given;
	struct place p;
	enum number n = number(target_datatype);
	enum operation o = operation(op);
	if (!known(n, o) || result_datatype != target_datatype || result_count != target_count || !size(banyan_lane, result, result_count, result_datatype, &bytes))
		return false;
	if (o != NO_OP && (datatype != target_datatype || count != target_count || !size(banyan_lane, origin, count, datatype, &given) || overlap(origin, result, bytes)))
		return false;
	if (!reach(&p, win, rank, disp, bytes) || overlap(p.at, result, bytes))
		return false;
	return combine(&p, n, o, origin, result, bytes);
}

// swap_other compares and swaps in another process's memory.
static bool swap_other(const struct place *p, const char *origin, const char *compare, char *result, uint64_t bytes)
{
	struct pollfd alive = {.fd = p->t->alive, .events = POLLIN};
	char was[8];
	struct iovec here = {was, bytes}, there = {(void *)(uintptr_t)(p->t->base + (uint64_t)p->from), bytes};
	if (LOAD(&p->w->busy) != 0 || !begin_alone(p->w, p->t->part))
		return false;
	bool good = process_vm_readv(p->t->pid, &here, 1, &there, 1, 0) == (ssize_t)bytes && poll(&alive, 1, 0) == 0;
	if (good && memcmp(was, compare, bytes) == 0) {
		here.iov_base = (void *)origin;
		good = process_vm_writev(p->t->pid, &here, 1, &there, 1, 0) == (ssize_t)bytes;
	}
	end_alone(p->w, p->t->part);
	if (good)
		memcpy(result, was, bytes);
	return good;
}

bool banyan_window_swap(const void *origin, const void *compare, void *result, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Win win)
{
	uint64_t bytes, more;
	struct place p;
	enum number n = number(datatype);
	if (n == NO_NUMBER || real(n) || size_of(n) < 4 || !size(banyan_lane, origin, 1, datatype, &bytes) || !size(banyan_lane, compare, 1, datatype, &more) ||
	    !size(banyan_lane, result, 1, datatype, &more) || !reach(&p, win, rank, disp, bytes))
		return false;
	if (!p.w->turns)
		return false;
	if (!p.at)
		return swap_other(&p, origin, compare, result, bytes);
	if ((uintptr_t)p.at % bytes != 0 || !begin_among(p.w, p.t->part))
		return false;
	if (bytes == 8) {
		uint64_t was, is;
		memcpy(&was, compare, 8);
		memcpy(&is, origin, 8);
		__atomic_compare_exchange_n((uint64_t *)p.at, &was, is, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		memcpy(result, &was, 8);
	} else {
		uint32_t was, is;
		memcpy(&was, compare, 4);
		memcpy(&is, origin, 4);
		__atomic_compare_exchange_n((uint32_t *)p.at, &was, is, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);
		memcpy(result, &was, 4);
	}
	end_among(p.w, p.t->part);
	return true;
}

// settled says whether nothing is under way in an epoch of locks.
static inline bool settled(const struct lane_win *w)
{
	return w && LOAD(&w->mode) != LANE_STARTED && LOAD(&w->passive) != 0 && LOAD(&w->busy) == 0;
}

static inline bool ordered(void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	return true;
}

bool banyan_window_flush(int rank, MPI_Win win)
{
	const struct lane_win *w = find_window(win);
	return settled(w) && (uint32_t)rank < (uint32_t)w->ranks && allowed((struct lane_target *)w->targets + rank, LOAD(&w->mode), LOAD(&w->passive)) && ordered();
}

bool banyan_window_flush_all(MPI_Win win) { return settled(find_window(win)) && ordered(); }

// A fence that follows another one is a barrier here, if nothing is under way. If the barrier can't
// be ended here, Go goes on with it.
bool banyan_window_fence(int assert, MPI_Win win)
{
	struct lane_win *w = find_window(win);
	if (!w || LOAD(&w->mode) != LANE_FENCED || LOAD(&w->busy) != 0 || (assert & ~(MPI_MODE_NOSTORE | MPI_MODE_NOPUT | MPI_MODE_NOPRECEDE)) != 0)
		return false;
	ordered();
	if (!banyan_lane_usable() || !banyan_commons_barrier((MPI_Comm)((uintptr_t)win | LANE_FENCE_BIT)))
		return false;
	__atomic_store_n(&w->used, 0, __ATOMIC_RELAXED);
	return ordered();
}

bool banyan_window_sync(MPI_Win win) { return find_window(win) && ordered(); }
