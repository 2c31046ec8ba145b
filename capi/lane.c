// The lane: a small message between two processes of a host is sent and received here, without
// entering Go, where nothing has to be decided. Package lane lays the memory out, and
// docs/design/decisions/0054-lane.md tells why it is as it is.
//
// Invariants:
//
//   - This file holds no protocol and no state. Whatever isn't the case below is Go's: the functions
//     then return false and have changed nothing.
//   - All but the word and closed is used only with the lock held, and what was looked at before is
//     looked at again. The lock is taken by one compare-and-swap from 0, so nobody who waits is
//     passed, and is held for a copy, or for a short wait that ends when anybody wants the lock.
//   - A frame is published by one store, the last. A process that dies here has sent a whole frame or
//     nothing.
//   - A message is received only if no receive is posted, none has arrived unexpected, and it is the
//     next of its sender's ring: then MPI's rules leave nothing to choose. And only if Go has no
//     operation under way that other processes may wait for: else Go must look at all rings.
//   - MPI_Irecv makes a note, if nothing is posted and nothing has arrived unexpected. A note waits
//     until its message is received here or Go posts it, which it does as soon as it has the lock.
//     A message goes to the oldest note that it fits, before it goes to anything else.

#include "lane_ring.h"
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

// send sends a message of bytes, or of instances of a type. Each of its callers has code of its own.
static inline __attribute__((always_inline)) bool send(struct lane_memory *m, const struct lane_type *t, const void *buf, uint64_t bytes, int dest, int tag, MPI_Comm comm)
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
	if (t)
		banyan_lane_move(t, true, (char *)buf, (char *)s + LANE_SHORT_SIZE, (int64_t)(bytes / (uint64_t)t->size));
	else
		copy((char *)s + LANE_SHORT_SIZE, buf, bytes);
	publish(w, LANE_SHORT | LANE_EAGER << 8 | bytes << 32, next);
	m->sent++;
	ring(e);
	return true;
}

static __attribute__((noinline)) bool send_typed(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct lane_memory *m = banyan_lane;
	uint64_t bytes;
	if (tag < 0 || !take(m))
		return false;
	const struct lane_type *t = typed(m, buf, count, datatype, &bytes);
	bool sent = t && bytes <= LANE_MOST && !closed(m) && send(m, t, buf, bytes, dest, tag, comm);
	give(m);
	return sent;
}

bool banyan_lane_send(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	struct lane_memory *m = banyan_lane;
	uint64_t bytes;
	if (!size(m, buf, count, datatype, &bytes))
		return made(datatype) && send_typed(buf, count, datatype, dest, tag, comm);
	if (bytes > LANE_MOST || tag < 0 || !take(m))
		return false;
	bool sent = !closed(m) && send(m, NULL, buf, bytes, dest, tag, comm);
	give(m);
	return sent;
}

// idle says whether nothing is posted, unexpected or under way. Without the lock it is a guess, which
// saves the lock where it would be taken in vain.
static inline bool idle(const struct lane_memory *m)
{
	return !UNLIKELY((LOAD((const uint64_t *)&m->counts) | LOAD(&m->requests)) != 0);
}
_Static_assert(sizeof(struct lane_counts) == sizeof(uint64_t), "idle reads both counts");

// await waits a little for a record, and returns its word, 0 if there is none.
static inline uint64_t await(const struct lane_memory *m, const void *record, int32_t spins)
{
	uint64_t word = __atomic_load_n((const uint64_t *)record, __ATOMIC_ACQUIRE);
	for (; word == 0 && spins > 0 && LOAD(&m->word) == LANE_HELD && !closed(m); spins--)
		word = __atomic_load_n((const uint64_t *)record, __ATOMIC_ACQUIRE);
	return word;
}

// frame is a message at the head of a ring.
struct frame {
	uint64_t bytes, context;
	int32_t tag;
	const char *data;
};

// next finds the message at the head of a rank's ring. It returns false if there is none, or another
// kind of frame.
static inline bool next(const struct lane_memory *m, const struct lane_ends *e, int32_t world, int32_t spins, struct frame *f)
{
	const struct lane_short *s = (const struct lane_short *)at(&e->in.half, e->in.head);
	uint64_t word = await(m, s, spins), bytes = word >> 32;
	if (UNLIKELY((uint32_t)word != (LANE_SHORT | LANE_EAGER << 8) || bytes > LANE_MOST))
		return false;
	f->bytes = bytes;
	f->context = LOAD(&s->context);
	f->tag = LOAD(&s->tag);
	f->data = (const char *)s + LANE_SHORT_SIZE;
	return !UNLIKELY(LOAD(&s->src) != world || LOAD(&s->dst) != m->self || LOAD(&s->total) != bytes);
}

// received goes on behind the message at the head of a ring.
static inline void advance(struct lane_memory *m, struct lane_ends *e, const struct frame *f)
{
	e->in.head += lines(LANE_SHORT_SIZE + f->bytes);
	m->polls++;
	tell(e);
}

// receive takes the message at the head of a ring.
static inline void receive(struct lane_memory *m, struct lane_ends *e, void *buf, const struct frame *f)
{
	copy(buf, f->data, f->bytes);
	advance(m, e, f);
}

// fulfil receives the message at the head of a rank's ring into the oldest note that it fits. It
// returns false if it fits none or is too large.
static bool fulfil(struct lane_memory *m, struct lane_ends *e, int32_t world, const struct frame *f)
{
	struct lane_notes *all = &m->notes;
	uint32_t k = all->first;
	struct lane_note *n;
	for (;; k++) {
		if (k == all->next)
			return false;
		n = &all->table[k % LANE_NOTES];
		if (n->state == LANE_WAITS && n->world == world && n->context == f->context && (n->tag == f->tag || n->tag == (int32_t)LANE_ANY_TAG))
			break;
	}
	if (UNLIKELY(f->bytes > n->room))
		return false;
	receive(m, e, n->buffer, f);
	n->state = LANE_RECEIVED;
	n->got = f->tag;
	n->bytes = f->bytes;
	if (--m->waiting != 0 && k == all->first)
		while (all->table[++all->first % LANE_NOTES].state != LANE_WAITS)
			;
	return true;
}

// find tells whether a message, by its source and tag, is the next of its sender's ring behind those
// that are noted, and nothing else could be meant.
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

// receive_typed receives a message of whole instances of a type that the program has made.
static __attribute__((noinline)) bool receive_typed(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	struct lane_memory *m = banyan_lane;
	struct frame f;
	uint64_t capacity;
	if ((tag < 0 && tag != MPI_ANY_TAG) || !idle(m) || !take(m))
		return false;
	const struct lane_type *t = typed(m, buf, count, datatype, &capacity);
	struct lane_ends *e = !t || closed(m) ? NULL : find(m, source, tag, comm, m->spins, &f);
	bool whole = e && f.bytes <= capacity && f.bytes % (uint64_t)t->size == 0;
	if (whole) {
		banyan_lane_move(t, false, buf, (char *)f.data, (int64_t)(f.bytes / (uint64_t)t->size));
		advance(m, e, &f);
	}
	give(m);
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
	if ((tag < 0 && tag != MPI_ANY_TAG) || !idle(m) || !take(m))
		return false;
	struct lane_ends *e = closed(m) ? NULL : find(m, source, tag, comm, m->spins, &f);
	bool fits = e && !UNLIKELY(f.bytes > capacity);
	if (fits)
		receive(m, e, buf, &f);
	give(m);
	if (fits)
		fill(status, source, f.tag, f.bytes);
	return fits;
}

bool banyan_lane_probe(int source, int tag, MPI_Comm comm, bool wait, MPI_Status *status)
{
	struct lane_memory *m = banyan_lane;
	struct frame f;
	if ((tag < 0 && tag != MPI_ANY_TAG) || !idle(m) || !take(m))
		return false;
	bool found = !closed(m) && find(m, source, tag, comm, wait ? m->spins : 0, &f);
	give(m);
	if (found)
		fill(status, source, f.tag, f.bytes);
	return found;
}

// place finds a free place for a note, NULL if there is none.
static inline struct lane_note *place(struct lane_memory *m)
{
	struct lane_notes *all = &m->notes;
	if (m->waiting == 0)
		all->first = all->next;
	for (int tries = 0; all->next - all->first < LANE_NOTES && tries < LANE_NOTES; tries++) {
		struct lane_note *n = &all->table[all->next % LANE_NOTES];
		if (n->state == LANE_FREE)
			return n;
		all->next++; // it may lie between those that wait
		if (m->waiting == 0)
			all->first = all->next;
	}
	return NULL;
}

static inline bool note(struct lane_memory *m, void *buf, uint64_t capacity, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	int32_t world;
	uint64_t context;
	struct lane_note *n;
	if (!idle(m) || !ends(m, comm, source, &world, &context) || !(n = place(m)))
		return false;
	n->state = LANE_WAITS;
	n->comm = (uintptr_t)comm;
	n->context = context;
	n->buffer = buf;
	n->room = capacity;
	n->world = world;
	n->source = source;
	n->tag = tag == MPI_ANY_TAG ? (int32_t)LANE_ANY_TAG : tag;
	m->notes.next++;
	m->waiting++;
	*request = (MPI_Request)(uintptr_t)n->handle;
	return true;
}

bool banyan_lane_note(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request)
{
	struct lane_memory *m = banyan_lane;
	uint64_t capacity;
	if (!size(m, buf, count, datatype, &capacity) || capacity > LANE_MOST || (tag < 0 && tag != MPI_ANY_TAG) || !idle(m) || !take(m))
		return false;
	bool noted = !closed(m) && note(m, buf, capacity, source, tag, comm, request);
	give(m);
	return noted;
}

// noted is the note of a request, NULL if it has none.
static inline struct lane_note *noted(struct lane_memory *m, MPI_Request request)
{
	uintptr_t i = (((uintptr_t)request & (LANE_GENERATION - 1)) - LANE_FIRST_NOTE) >> 4;
	if (i >= LANE_NOTES)
		return NULL;
	struct lane_note *n = &m->notes.table[i];
	return n->handle == (uintptr_t)request ? n : NULL;
}

// over tells whether a request has ended that C knows. It receives what comes before its message.
static bool over(struct lane_memory *m, MPI_Request request, int32_t spins)
{
	if (request == BANYAN_SENT || request == MPI_REQUEST_NULL || request == BANYAN_NO_PROC)
		return true;
	const struct lane_note *n = noted(m, request);
	if (!n)
		return false;
	while (n->state == LANE_WAITS) {
		struct lane_ends *e = ((struct lane_ends *const *)m->peers)[n->world];
		struct frame f;
		if (!e || closed(m) || !next(m, e, n->world, spins, &f) || !fulfil(m, e, n->world, &f))
			return false;
	}
	return n->state == LANE_RECEIVED;
}

// end reports a request that is over.
static inline void end(struct lane_memory *m, MPI_Request *request, MPI_Status *status)
{
	struct lane_note *n = noted(m, *request);
	if (n && n->state == LANE_RECEIVED) {
		fill(status, n->source, n->got, n->bytes);
		n->state = LANE_FREE;
		n->handle = (n->handle + LANE_GENERATION) % LANE_LAST_HANDLE;
	} else {
		fill(status, *request == BANYAN_NO_PROC ? MPI_PROC_NULL : MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
		if (*request == MPI_REQUEST_NULL && status != MPI_STATUS_IGNORE)
			status->MPI_ERROR = MPI_SUCCESS;
	}
	*request = MPI_REQUEST_NULL;
}

bool banyan_lane_end(int64_t count, MPI_Request *requests, MPI_Status *statuses, bool wait)
{
	struct lane_memory *m = banyan_lane;
	int64_t i = 0;
	if (m == &none)
		return false;
	while (i < count && requests[i] == BANYAN_SENT)
		i++;
	bool lock = i < count;
	if (lock) {
		if (!take(m))
			return false;
		while (i < count && over(m, requests[i], wait ? m->spins : 0))
			i++;
	}
	for (int64_t k = 0; i == count && k < count; k++)
		end(m, &requests[k], statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[k]);
	if (lock)
		give(m);
	return i == count;
}
