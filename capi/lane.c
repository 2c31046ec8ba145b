// The lane: a small message between two processes of a host is sent and received here, without
// entering Go, where nothing has to be decided. Package lane lays the memory out, and
// docs/design/decisions/0054-lane.md tells why it is as it is.
//
// Invariants:
//
//   - This file holds no protocol and no state. Whatever isn't the case below is Go's: the functions
//     then return false and have changed nothing.
//   - All but the word and closed is used only with the lock held, and what was looked at before is
//     looked at again. The lock is taken by one
//     compare-and-swap from 0, so nobody who waits is passed, and is held for a copy, or for a short
//     wait that ends when anybody wants the lock.
//   - A frame is published by one store, the last. A process that dies here has sent a whole frame or
//     nothing.
//   - A message is received only if no receive is posted, none has arrived unexpected, and it is the
//     next of its sender's ring: then MPI's rules leave nothing to choose. And only if Go has no
//     operation under way that other processes may wait for: else Go must look at all rings.
//   - The peer may be faulty: each field of a record is read once, and lengths are checked.
//
// The order of loads and stores is that of shm's Writer, Reader, Link and Doorbells in Go.

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lane.h"

#define UNLIKELY(x) __builtin_expect(!!(x), 0)
#define LOAD(p) __atomic_load_n((p), __ATOMIC_RELAXED)

// No type has a size here, so nothing is done with it.
static struct lane_memory none = {.word = LANE_HELD, .closed = ~0u};
struct lane_memory *banyan_lane = &none;

void banyan_lane_open(void *memory)
{
	banyan_lane = memory;
}

void banyan_lane_close(void)
{
	banyan_lane = &none;
}

static inline bool take(struct lane_memory *m)
{
	uint32_t free = 0;
	return __atomic_compare_exchange_n(&m->word, &free, LANE_HELD, false, __ATOMIC_ACQUIRE, __ATOMIC_RELAXED);
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

// ends gives the ends of the rings of a rank of a communicator, and its rank in the world.
static inline struct lane_ends *ends(const struct lane_memory *m, MPI_Comm comm, int rank, int32_t *world, uint64_t *context)
{
	uint64_t handle = (uintptr_t)comm;
	const struct lane_comm *c = &m->comms[(handle ^ handle >> 4) % LANE_COMMS];
	if (UNLIKELY(c->handle != handle || (uint32_t)rank >= (uint32_t)c->size))
		return NULL;
	*world = c->group ? ((const int32_t *)c->group)[rank] : rank;
	*context = c->context;
	return ((struct lane_ends *const *)m->peers)[*world];
}

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
static bool room(struct lane_writer *w, uint64_t end)
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
	while (w->clear < next + LANE_WINDOW)
		zero(w);
}

static inline bool send(struct lane_memory *m, const void *buf, uint64_t bytes, int dest, int tag, MPI_Comm comm)
{
	int32_t world;
	uint64_t context;
	struct lane_ends *e = ends(m, comm, dest, &world, &context);
	if (UNLIKELY(!e || e->queued))
		return false;
	struct lane_writer *w = &e->out;
	uint64_t next = w->tail + lines(LANE_SHORT_SIZE + bytes);
	if (UNLIKELY(next + LANE_WINDOW > w->limit && !room(w, next)))
		return false;
	struct lane_short *s = (struct lane_short *)at(&w->half, w->tail);
	s->context = context;
	s->seq = 0;
	s->src = m->self;
	s->dst = world;
	s->tag = tag;
	s->total = (uint32_t)bytes;
	copy((char *)s + LANE_SHORT_SIZE, buf, bytes);
	publish(w, LANE_SHORT | LANE_EAGER << 8 | bytes << 32, next);
	m->sent++;
	ring(e);
	return true;
}

bool banyan_lane_send(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct lane_memory *m = banyan_lane;
	uint64_t bytes;
	if (!size(m, buf, count, datatype, &bytes) || bytes > LANE_MOST || tag < 0 || !take(m))
		return false;
	bool sent = !closed(m) && send(m, buf, bytes, dest, tag, comm);
	give(m);
	return sent;
}

// await waits a little for a record, and returns its word, 0 if there is none.
static inline uint64_t await(const struct lane_memory *m, const void *record, int32_t spins)
{
	uint64_t word = __atomic_load_n((const uint64_t *)record, __ATOMIC_ACQUIRE);
	for (; word == 0 && spins > 0 && LOAD(&m->word) == LANE_HELD && !closed(m); spins--)
		word = __atomic_load_n((const uint64_t *)record, __ATOMIC_ACQUIRE);
	return word;
}

// idle says whether nothing is posted, unexpected or under way. Without the lock it is a guess, which
// saves the lock where it would be taken in vain.
static inline bool idle(const struct lane_memory *m)
{
	return !UNLIKELY((LOAD(&m->counts.posted) | LOAD(&m->counts.unexpected) | LOAD(&m->requests)) != 0);
}

// message is what a receive or a probe is about, or has found.
struct message {
	int source, tag;
	uint64_t bytes;
	const struct lane_short *record;
};

// find tells whether a message, by its source and tag, is the next of its sender's ring, and nothing
// else could be meant.
static inline struct lane_ends *find(const struct lane_memory *m, struct message *wanted, MPI_Comm comm, int32_t spins)
{
	int32_t world;
	uint64_t context;
	if (!idle(m))
		return NULL;
	struct lane_ends *e = ends(m, comm, wanted->source, &world, &context);
	if (UNLIKELY(!e))
		return NULL;
	const struct lane_short *s = (const struct lane_short *)at(&e->in.half, e->in.head);
	uint64_t word = await(m, s, spins), bytes = word >> 32;
	if (UNLIKELY((uint32_t)word != (LANE_SHORT | LANE_EAGER << 8) || bytes > LANE_MOST))
		return NULL;
	int32_t tag = LOAD(&s->tag);
	if (UNLIKELY(LOAD(&s->context) != context || LOAD(&s->src) != world || LOAD(&s->dst) != m->self || LOAD(&s->total) != bytes ||
		     (tag != wanted->tag && wanted->tag != MPI_ANY_TAG)))
		return NULL;
	wanted->tag = tag;
	wanted->bytes = bytes;
	wanted->record = s;
	return e;
}

// fill stores what binding.Status has of a message.
static inline void fill(MPI_Status *status, int source, int tag, uint64_t bytes)
{
	if (status == MPI_STATUS_IGNORE)
		return;
	status->MPI_SOURCE = source;
	status->MPI_TAG = tag;
	status->MPI_internal[0] = 0;
	status->MPI_internal[1] = (int)bytes;
	status->MPI_internal[2] = 0;
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

static inline bool receive(struct lane_memory *m, void *buf, uint64_t capacity, struct message *wanted, MPI_Comm comm)
{
	struct lane_ends *e = find(m, wanted, comm, m->spins);
	if (!e || UNLIKELY(wanted->bytes > capacity))
		return false;
	copy(buf, (const char *)wanted->record + LANE_SHORT_SIZE, wanted->bytes);
	e->in.head += lines(LANE_SHORT_SIZE + wanted->bytes);
	m->polls++;
	tell(e);
	return true;
}

bool banyan_lane_receive(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct lane_memory *m = banyan_lane;
	struct message wanted = {.source = source, .tag = tag};
	uint64_t capacity;
	if (!size(m, buf, count, datatype, &capacity) || (tag < 0 && tag != MPI_ANY_TAG) || !idle(m) || !take(m))
		return false;
	bool received = !closed(m) && receive(m, buf, capacity, &wanted, comm);
	give(m);
	if (received)
		fill(status, source, wanted.tag, wanted.bytes);
	return received;
}

bool banyan_lane_probe(int source, int tag, MPI_Comm comm, bool wait, MPI_Status *status)
{
	struct lane_memory *m = banyan_lane;
	struct message wanted = {.source = source, .tag = tag};
	if ((tag < 0 && tag != MPI_ANY_TAG) || !idle(m) || !take(m))
		return false;
	bool found = !closed(m) && find(m, &wanted, comm, wait ? m->spins : 0);
	give(m);
	if (found)
		fill(status, source, wanted.tag, wanted.bytes);
	return found;
}

bool banyan_lane_sent(int64_t count, MPI_Request *requests, MPI_Status *statuses)
{
	if (banyan_lane == &none)
		return false;
	for (int64_t i = 0; i < count; i++)
		if (requests[i] != BANYAN_SENT)
			return false;
	for (int64_t i = 0; i < count; i++) {
		requests[i] = MPI_REQUEST_NULL;
		fill(statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i], MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
	}
	return true;
}
