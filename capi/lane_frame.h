// lane_frame.h: the message at the head of a ring, and where it goes; for lane.c and
// lane_request.c.
//
// The caller holds the lock, unless a function says otherwise.
#ifndef BANYAN_LANE_FRAME_H
#define BANYAN_LANE_FRAME_H

#include "lane_ring.h"

// leave gives the lock up, and tells Go if it has received for a thread that waits there.
static inline void leave(struct lane_memory *m)
{
	uint32_t rouse = m->rouse;
	m->rouse = 0;
	give(m);
	if (UNLIKELY(rouse != 0))
		banyan_lane_rouse();
}

// threaded says whether threads share the lock: then nobody spins with it.
static inline bool threaded(const struct lane_memory *m) { return m->turns != 0; }

static inline int32_t spins(const struct lane_memory *m) { return threaded(m) ? 0 : m->spins; }

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

// idle says whether nothing is posted, unexpected or under way. Without the lock it is a guess,
// which saves the lock where it would be taken in vain.
static inline bool idle(const struct lane_memory *m)
{
	return !UNLIKELY((LOAD((const uint64_t *)&m->counts) | LOAD(&m->requests)) != 0);
}
_Static_assert(sizeof(struct lane_counts) == sizeof(uint64_t), "idle reads both counts");

// Each look at a record takes its line away from the writer, which needs it back to write the record.
// So there is a pause between two looks. A program that has many receives under way wants many
// messages rather than the next one soon: the pause is longer, so that the writer gets ahead and is
// left alone.
enum {
	MANY = 8,  // receives under way
	LONG = 8,  // pauses between two looks then
	LOOK = 10, // looks without a pause that one with a pause counts for
};

// await waits a little for a record, and returns its word, 0 if there is none.
static inline uint64_t await(const struct lane_memory *m, const void *record, int32_t spins)
{
	uint64_t word = __atomic_load_n((const uint64_t *)record, __ATOMIC_ACQUIRE);
	int32_t pauses = m->waiting >= MANY ? LONG : 1;
	for (; word == 0 && spins > 0 && LOAD(&m->word) == LANE_HELD && !closed(m); spins -= LOOK * pauses) {
		for (int32_t i = 0; i < pauses; i++)
			pause_briefly();
		word = __atomic_load_n((const uint64_t *)record, __ATOMIC_ACQUIRE);
	}
	return word;
}

// frame is a message at the head of a ring.
struct frame {
	uint64_t bytes, context;
	int32_t tag;
	const char *data;
};

// next finds the message at the head of a rank's ring. It returns false if there is none, or
// another kind of frame.
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

// advance goes on behind the message at the head of a ring.
static inline void advance(struct lane_memory *m, struct lane_ends *e, const struct frame *f)
{
	e->in.head += lines(LANE_SHORT_SIZE + f->bytes);
	__atomic_store_n(&m->polls, m->polls + 1, __ATOMIC_RELAXED);
	tell(e);
}

// receive takes the message at the head of a ring.
static inline void receive(struct lane_memory *m, struct lane_ends *e, void *buf, const struct frame *f)
{
	copy(buf, f->data, f->bytes);
	advance(m, e, f);
}

// unlist takes a note out of the list of those without a message.
static inline void unlist(struct lane_notes *all, const struct lane_note *n)
{
	all->table[n->older].younger = n->younger;
	all->table[n->younger].older = n->older;
}

// fulfil receives the message at the head of a rank's ring into the oldest note that it fits. It
// returns false if it fits none or is too large.
static bool fulfil(struct lane_memory *m, struct lane_ends *e, int32_t world, const struct frame *f)
{
	struct lane_notes *all = &m->notes;
	struct lane_note *n;
	for (uint32_t k = all->table[LANE_NOTES].younger;; k = n->younger) {
		if (k == LANE_NOTES)
			return false;
		n = &all->table[k];
		if (n->state == LANE_WAITS && n->world == world && n->context == f->context && (n->tag == f->tag || n->tag == (int32_t)LANE_ANY_TAG))
			break;
	}
	if (UNLIKELY(f->bytes > n->room))
		return false;
	receive(m, e, n->buffer, f);
	unlist(all, n);
	n->state = LANE_RECEIVED;
	n->got = f->tag;
	n->bytes = (uint32_t)f->bytes;
	m->rouse |= n->flags & LANE_AWAITED;
	m->waiting--;
	return true;
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

#endif
