// The lane: a small message between two processes of a host is sent and received here, without
// entering Go, where nothing has to be decided. Package lane lays the memory out, and
// docs/design/decisions/0054-lane.md tells why it is as it is.
//
// Invariants:
//
//   - This file and lane_request.c hold no protocol and no state. Whatever isn't the case below is
//     Go's: the functions then return false and have changed nothing.
//   - All but the word and closed is used only with the lock held, and what was looked at before is
//     looked at again. The lock is taken by one compare-and-swap from 0, so nobody who waits is
//     passed, and is held for a copy, or for a short wait that ends when anybody wants the lock.
//   - A frame is published by one store, the last. A process that dies here has sent a whole frame or
//     nothing.
//   - A message is received only if no receive is posted, none has arrived unexpected, and it is the
//     next of its sender's ring: then MPI's rules leave nothing to choose. And only if Go has no
//     operation under way that other processes may wait for: else Go must look at all rings.
//   - MPI_Irecv makes a note, if nothing is posted and nothing has arrived unexpected. A note waits
//     until its message is received here or Go posts it, which it does as soon as it has the lock; Go
//     gives it back before it gives the lock up, if nothing else is under way.
//     A message goes to the oldest note that it fits, before it goes to anything else.

#include "lane_frame.h"
#include "lane_type.h"

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

// made says whether a type isn't a predefined one.
static inline bool made(MPI_Datatype datatype) { return (uintptr_t)datatype >= LANE_FIRST_TYPE + 256; }

// typed is size for a type that the program has made. The lock is held.
static inline const struct lane_type *typed(const struct lane_memory *m, const void *buf, int64_t count, MPI_Datatype datatype, uint64_t *bytes)
{
	const struct lane_type *t = banyan_lane_type(m, datatype);
	if (!t || (uint64_t)count >> 48 != 0 || (uintptr_t)buf < 4096)
		return NULL;
	*bytes = (uint64_t)count * (uint64_t)t->size;
	return t;
}

// await_room waits a little for a reader that is slower than its writer: in Go each further message
// would be queued.
static __attribute__((noinline)) bool await_room(const struct lane_memory *m, struct lane_writer *w, uint64_t end)
{
	for (int32_t looks = m->spins / 2; looks > 0 && LOAD(&m->word) == LANE_HELD && !closed(m); looks--) {
		if (room(w, end))
			return true;
		pause_briefly();
	}
	return false;
}

// handle is that of a send's request, by its number.
static inline MPI_Request handle(uint32_t number)
{
	return (MPI_Request)(uintptr_t)(LANE_SENT | (number & LANE_NUMBER_MASK) << 4);
}

// NOT_SENT is the request of what isn't sent.
#define NOT_SENT ((MPI_Request)0)

// send sends a message of bytes, or of instances of a type, and gives its request. MPI_Isend's has
// a number. Each of its callers has code of its own.
static inline __attribute__((always_inline)) MPI_Request send(struct lane_memory *m, const struct lane_type *t, const void *buf, uint64_t bytes, int dest, int tag, MPI_Comm comm, bool numbered)
{
	int32_t world;
	uint64_t context;
	struct lane_ends *e = ends(m, comm, dest, &world, &context);
	if (UNLIKELY(!e || e->queued))
		return NOT_SENT;
	struct lane_writer *w = &e->out;
	uint64_t next = w->tail + lines(LANE_SHORT_SIZE + bytes);
	if (UNLIKELY(next + LANE_WINDOW > w->limit && !room(w, next) && !await_room(m, w, next)))
		return NOT_SENT;
	uint32_t number = 0;
	if (numbered) {
		number = ++m->sends.last;
		m->destinations[number % LANE_NUMBERS] = world;
	}
	struct lane_short *s = (struct lane_short *)at(&w->half, w->tail);
	s->context = context;
	s->seq = (uint64_t)number << 32;
	s->src = m->self;
	s->dst = world;
	s->tag = tag;
	s->total = (uint32_t)bytes;
	if (t)
		banyan_lane_move(t, true, (char *)buf, (char *)s + LANE_SHORT_SIZE, (int64_t)(bytes / (uint64_t)t->size));
	else
		copy((char *)s + LANE_SHORT_SIZE, buf, bytes);
	publish(w, LANE_SHORT | LANE_EAGER << 8 | bytes << 32, next);
	m->sent++;
	ring(e);
	return handle(number);
}

static __attribute__((noinline)) MPI_Request send_typed(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct lane_memory *m = banyan_lane;
	uint64_t bytes;
	if (tag < 0 || !take_soon(m))
		return NOT_SENT;
	const struct lane_type *t = typed(m, buf, count, datatype, &bytes);
	MPI_Request sent = NOT_SENT;
	if (t && bytes <= LANE_MOST && !closed(m))
		sent = send(m, t, buf, bytes, dest, tag, comm, true);
	give(m);
	return sent;
}

bool banyan_lane_send(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct lane_memory *m = banyan_lane;
	uint64_t bytes;
	if (!size(m, buf, count, datatype, &bytes))
		return made(datatype) && send_typed(buf, count, datatype, dest, tag, comm) != NOT_SENT;
	if (bytes > LANE_MOST || tag < 0 || !take_soon(m))
		return false;
	bool sent = !closed(m) && send(m, NULL, buf, bytes, dest, tag, comm, false) != NOT_SENT;
	give(m);
	return sent;
}

MPI_Request banyan_lane_start_send(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct lane_memory *m = banyan_lane;
	uint64_t bytes;
	if (!size(m, buf, count, datatype, &bytes))
		return made(datatype) ? send_typed(buf, count, datatype, dest, tag, comm) : NOT_SENT;
	if (bytes > LANE_MOST || tag < 0 || !take_soon(m))
		return NOT_SENT;
	MPI_Request sent = closed(m) ? NOT_SENT : send(m, NULL, buf, bytes, dest, tag, comm, true);
	give(m);
	return sent;
}

// find tells whether a message, by its source and tag, is the next of its sender's ring behind
// those that are noted, and nothing else could be meant.
static inline __attribute__((always_inline)) struct lane_ends *find(struct lane_memory *m, int source, int tag, MPI_Comm comm, int32_t spins, struct frame *f)
{
	int32_t world;
	uint64_t context;
	if (!idle(m))
		return NULL;
	struct lane_ends *e = ends(m, comm, source, &world, &context);
	if (UNLIKELY(!e))
		return NULL;
	do {
		if (!next(m, e, world, spins, f))
			return NULL;
	} while (UNLIKELY(m->waiting != 0) && fulfil(m, e, world, f));
	return UNLIKELY(f->context != context || (f->tag != tag && tag != MPI_ANY_TAG)) ? NULL : e;
}

// receive_typed receives a message of whole instances of a type that the program has made.
static __attribute__((noinline)) bool receive_typed(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct lane_memory *m = banyan_lane;
	struct frame f;
	uint64_t capacity;
	if ((tag < 0 && tag != MPI_ANY_TAG) || !idle(m) || !take_soon(m))
		return false;
	const struct lane_type *t = typed(m, buf, count, datatype, &capacity);
	struct lane_ends *e = !t || closed(m) ? NULL : find(m, source, tag, comm, spins(m), &f);
	bool whole = e && f.bytes <= capacity && f.bytes % (uint64_t)t->size == 0;
	if (whole) {
		banyan_lane_move(t, false, buf, (char *)f.data, (int64_t)(f.bytes / (uint64_t)t->size));
		advance(m, e, &f);
	}
	leave(m);
	if (whole)
		fill(status, source, f.tag, f.bytes);
	return whole;
}

bool banyan_lane_receive(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct lane_memory *m = banyan_lane;
	struct frame f;
	uint64_t capacity;
	if (!size(m, buf, count, datatype, &capacity))
		return made(datatype) && receive_typed(buf, count, datatype, source, tag, comm, status);
	if ((tag < 0 && tag != MPI_ANY_TAG) || !idle(m) || !take_soon(m))
		return false;
	struct lane_ends *e = closed(m) ? NULL : find(m, source, tag, comm, spins(m), &f);
	bool fits = e && !UNLIKELY(f.bytes > capacity);
	if (fits)
		receive(m, e, buf, &f);
	leave(m);
	if (fits)
		fill(status, source, f.tag, f.bytes);
	return fits;
}

bool banyan_lane_probe(int source, int tag, MPI_Comm comm, bool wait, MPI_Status *status)
{
	struct lane_memory *m = banyan_lane;
	struct frame f;
	if ((tag < 0 && tag != MPI_ANY_TAG) || !idle(m) || !take_soon(m))
		return false;
	bool found = !closed(m) && find(m, source, tag, comm, wait ? spins(m) : 0, &f);
	leave(m);
	if (found)
		fill(status, source, f.tag, f.bytes);
	return found;
}
