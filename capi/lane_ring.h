// lane_ring.h: the ends of the rings between two processes of a host, as C uses them (lane.c).
//
// The caller holds the lock. The peer may be faulty: each field of a record is read once, and
// lengths are checked. The order of loads and stores is that of shm's Writer, Reader, Link and
// Doorbells in Go.
#ifndef BANYAN_LANE_RING_H
#define BANYAN_LANE_RING_H

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lane_owner.h"

static inline char *at(const struct lane_half *h, uint64_t position)
{
	return (char *)h->data + (position & (h->size - 1));
}

static inline uint64_t lines(uint64_t bytes)
{
	return (bytes + LANE_LINE - 1) & ~(uint64_t)(LANE_LINE - 1);
}

static inline void copy(void *to, const void *from, uint64_t n)
{
	if (n == 8) // numbers
		memcpy(to, from, 8);
	else
		memcpy(to, from, n);
}

static __attribute__((cold, noinline)) void rouse(const struct lane_ends *e)
{
	uint32_t asleep = 1;
	if (__atomic_compare_exchange_n(e->asleep, &asleep, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
		uint64_t one = 1;
		int saved = errno;
		syscall(SYS_write, e->alarm, &one, sizeof one);
		errno = saved;
	}
}

// ring tells the peer that there is something for it, and wakes it if it sleeps. The store of what
// there is must have been sequentially consistent.
static inline void ring(const struct lane_ends *e)
{
	if (UNLIKELY(!(__atomic_load_n(e->bell, __ATOMIC_SEQ_CST) & e->bit)))
		__atomic_fetch_or(e->bell, e->bit, __ATOMIC_SEQ_CST);
	if (UNLIKELY(__atomic_load_n(e->asleep, __ATOMIC_SEQ_CST)))
		rouse(e);
}

// room says whether a record that ends there fits, with the window behind it.
static inline bool room(struct lane_writer *w, uint64_t end)
{
	uint64_t head = __atomic_load_n(&w->half.control->head, __ATOMIC_ACQUIRE);
	if (head <= w->tail && w->tail - head <= w->half.size && head % LANE_LINE == 0 && head + w->half.size > w->limit)
		w->limit = head + w->half.size;
	return end + LANE_WINDOW <= w->limit;
}

static inline void zero(struct lane_writer *w)
{
	*(uint64_t *)at(&w->half, w->clear) = 0;
	w->clear += LANE_LINE;
}

// publish makes the record at the tail visible, which ends at next.
static inline void publish(struct lane_writer *w, uint64_t word, uint64_t next)
{
	char *record = at(&w->half, w->tail);
	if (w->clear <= next) {
		w->clear = next;
		zero(w);
	}
	__atomic_store_n((uint64_t *)record, word, __ATOMIC_SEQ_CST);
	w->tail = next;
	if (w->clear < next + LANE_WINDOW) { // several at a time: the reader has had these lines, and they come back together
		uint64_t upto = next + LANE_AHEAD < w->limit ? next + LANE_AHEAD : w->limit;
		while (w->clear < upto)
			zero(w);
	}
}

// tell gives the room that was read back to the writer, if it is much, or if the writer waits and
// there is nothing more to read.
static inline void tell(struct lane_ends *e)
{
	struct lane_reader *r = &e->in;
	struct lane_control *c = r->half.control;
	if (r->head - r->told < r->half.size / LANE_TELL_SHARE &&
	    (__atomic_load_n(&c->hungry, __ATOMIC_SEQ_CST) == 0 || LOAD((const uint64_t *)at(&r->half, r->head)) != 0))
		return;
	__atomic_store_n(&c->head, r->head, __ATOMIC_SEQ_CST);
	r->told = r->head;
	if (__atomic_load_n(&c->hungry, __ATOMIC_SEQ_CST) != 0) {
		__atomic_store_n(&c->hungry, 0, __ATOMIC_SEQ_CST);
		ring(e);
	}
}

#endif
