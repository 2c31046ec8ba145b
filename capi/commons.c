// Small collectives go through memory that the members of a communicator have in common. Package
// cells says who writes what where, and why that is right; package commons lays the memory out.
// Where nothing has to be decided, the accesses are made here, without entering Go
// (docs/design/decisions/0053-common-memory.md).
//
// Invariants:
//
//   - The accesses are those of cells.Machine, in its order. What the machine keeps from call to call
//     (cells.Progress) is the same memory for both, and is used with the engine's lock held.
//   - Only a call is carried out here in which each member is heard within some microseconds, or some
//     turns where processes share cores, and nobody has to be woken. Otherwise Progress says how far
//     the call has come, and Go goes on: FRESH: it begins; GIVEN: this member has published; TAKEN: it
//     has all that it takes.
//   - No member is known to be dead when a call begins (else C doesn't know the communicator), and a word that isn't exactly what the
//     others are to publish is Go's to judge.
//   - What Go refuses isn't begun here: the arguments are plain types, in buffers that aren't special.

#include <string.h>

#include "commons.h"
#include "lane_number.h"
#include "lane_owner.h"

// call is one member's part in a collective.
struct call {
	struct lane_memory *m;
	struct lane_part *part;
	uint64_t number, word, size;
	int32_t yields; // that are left
	bool held;      // the lock
};

static inline struct lane_line *line(const struct call *c, int member)
{
	return (struct lane_line *)((char *)c->part->base + LANE_MEMBERS_AT + member * LANE_MEMBER_SIZE +
				    (c->number % LANE_DEPTH + 1) * sizeof(struct lane_line));
}

static inline struct lane_own *own(const struct call *c)
{
	return (struct lane_own *)((char *)c->part->base + LANE_MEMBERS_AT + c->part->self * LANE_MEMBER_SIZE);
}

// data is where a member's data lies.
static inline char *data(const struct call *c, int member)
{
	if (c->size <= LANE_INLINE)
		return (char *)line(c, member)->data;
	return (char *)c->part->base + c->part->rooms + (member * LANE_DEPTH + c->number % LANE_DEPTH) * LANE_ROOM;
}

// enter takes the lock, and begins a call of which each member that gives any gives so many bytes.
// It returns false, without the lock, if Go is to begin it.
static inline __attribute__((always_inline)) bool enter_part(struct call *c, struct lane_memory *m, MPI_Comm comm, bool pact, uint64_t kind, uint64_t size)
{
	uint64_t handle = (uintptr_t)comm;
	uint64_t index = (handle ^ handle >> 4) % LANE_COMMS;
	struct lane_comm *in = &m->comms[index];
	struct lane_part **at = pact ? &m->pacts[index] : &in->part;
	// Without the lock these are guesses, which save the lock where it would be taken in vain.
	if (LOAD(&in->handle) != handle || !LOAD(at) || UNLIKELY(LOAD(&m->requests) != 0) || size > LANE_ROOM || !take_soon(m))
		return false;
	struct lane_part *part = *at;
	if (UNLIKELY(closed(m) || in->handle != handle || !part || m->requests != 0 || part->progress->stage != LANE_FRESH)) {
		give(m);
		return false;
	}
	uint64_t number = part->progress->call + 1;
	*c = (struct call){m, part, number, number << LANE_NUMBER_SHIFT | (size << LANE_SIZE_SHIFT | kind) << LANE_NOTE_SHIFT, size, m->yields, true};
	return true;
}

static bool enter(struct call *c, struct lane_memory *m, MPI_Comm comm, uint64_t kind, uint64_t size)
{
	return enter_part(c, m, comm, false, kind, size);
}

// leave gives up the lock.
static inline bool leave(const struct call *c, bool done)
{
	if (c->held)
		give(c->m);
	return done;
}

// publish gives this member's data to the others.
static inline bool publish(struct call *c, const void *from)
{
	struct lane_progress *p = c->part->progress;
	struct lane_line *l = line(c, c->part->self);
	if (UNLIKELY(c->number > p->floor + LANE_DEPTH))
		return false; // is there room?
	if (c->size != 0) {
		__atomic_store_n(&l->turn, c->number, __ATOMIC_RELAXED);
		__atomic_thread_fence(__ATOMIC_RELEASE); // the data comes after it
		memcpy(data(c, c->part->self), from, c->size);
	}
	uint64_t *kept = &p->words[c->number % LANE_DEPTH], old = *kept;
	if (UNLIKELY(!__atomic_compare_exchange_n(&l->word, &old, c->word, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)))
		return false;
	*kept = c->word;
	p->stage = LANE_GIVEN;
	return true;
}

// yield offers the core to others, without the lock meanwhile. It returns false if Go is to go on,
// perhaps without the lock.
static bool yield(struct call *c)
{
	struct lane_memory *m = c->m;
	if (c->yields-- <= 0)
		return false;
	int64_t before = now();
	give(m);
	sched_yield();
	c->held = take(m);
	if (!c->held)
		return false;
	if (now() - before >= m->limit) {
		m->late = 1;
		m->yields = 0;
		return false;
	}
	m->yielded++;
	return true;
}

// hear waits a little for a member's word.
static inline bool hear(struct call *c, int member)
{
	const uint64_t *at = &line(c, member)->word;
	for (int32_t spins = c->m->spins;; spins--) {
		uint64_t word = __atomic_load_n(at, __ATOMIC_SEQ_CST);
		if (word == c->word)
			return true;
		if (UNLIKELY(word >> LANE_NUMBER_SHIFT >= c->number || (word & 1) || LOAD(&c->m->word) != LANE_HELD || closed(c->m)))
			return false;
		if (spins <= 0 && !yield(c))
			return false;
	}
}

// hear_all waits a little for the words of all others.
static inline bool hear_all(struct call *c)
{
	int n = c->part->size, self = c->part->self;
	for (int i = self + 1; i < n; i++)
		if (!hear(c, i))
			return false;
	for (int i = 0; i < self; i++)
		if (!hear(c, i))
			return false;
	return true;
}

// whole tells, after reading, that a member's data wasn't being written again.
static inline bool whole(const struct call *c, int member)
{
	__atomic_thread_fence(__ATOMIC_ACQUIRE);
	return c->size == 0 || __atomic_load_n(&line(c, member)->turn, __ATOMIC_RELAXED) == c->number;
}

static inline bool all_whole(const struct call *c)
{
	for (int i = 0; i < c->part->size; i++)
		if (UNLIKELY(!whole(c, i)))
			return false;
	return true;
}

// end ends a call in which this member has all that it takes, unless somebody may have to be woken.
static inline bool end(const struct call *c, bool all)
{
	struct lane_progress *p = c->part->progress;
	p->stage = LANE_TAKEN;
	if (!all)
		__atomic_store_n(&own(c)->done, c->number, __ATOMIC_SEQ_CST);
	const uint64_t *sleepers = (const uint64_t *)((const char *)c->part->base + LANE_SLEEPERS_AT);
	if (UNLIKELY((__atomic_load_n(sleepers, __ATOMIC_SEQ_CST) & ~(UINT64_C(1) << c->part->self)) != 0))
		return false;
	if (all)
		p->floor = c->number - 1; // each member that has given has completed the calls before
	p->call = c->number;
	p->stage = LANE_FRESH;
	c->m->polls++;
	return true;
}

bool banyan_commons_barrier(MPI_Comm comm)
{
	struct call c;
	return enter(&c, banyan_lane, comm, LANE_BARRIER, 0) && leave(&c, publish(&c, "") && hear_all(&c) && end(&c, true));
}

// Agreements have common memory of their own. Each member gives its flags, and takes those of all.
static inline void flags_of_all(const struct call *c, int *flags)
{
	for (int i = 0; i < c->part->size; i++) {
		int given;
		memcpy(&given, data(c, i), sizeof given);
		*flags &= given;
	}
}

bool banyan_commons_agree(int *flag, MPI_Comm comm)
{
	struct call c;
	int flags = *flag;
	if (!enter_part(&c, banyan_lane, comm, true, LANE_AGREEMENT, sizeof flags))
		return false;
	if (!publish(&c, &flags) || !hear_all(&c))
		return leave(&c, false);
	flags_of_all(&c, &flags);
	if (!all_whole(&c))
		return leave(&c, false);
	*flag = flags; // Go takes it for the outcome when it only has to wake others
	return leave(&c, end(&c, true));
}

static inline bool bcast(struct call *c, void *buf, int root)
{
	if (UNLIKELY((uint32_t)root >= (uint32_t)c->part->size))
		return false;
	if (root == c->part->self)
		return publish(c, buf) && end(c, false);
	if (!hear(c, root))
		return false;
	memcpy(buf, data(c, root), c->size);
	return whole(c, root) && end(c, false);
}

bool banyan_commons_bcast(void *buf, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm)
{
	struct call c;
	uint64_t bytes;
	return size(banyan_lane, buf, count, datatype, &bytes) && enter(&c, banyan_lane, comm, LANE_BCAST, bytes) && leave(&c, bcast(&c, buf, root));
}

// overlap says that memory to send and memory to receive overlap, which Go reports.
static inline bool overlap(const void *send, uint64_t out, const void *recv, uint64_t in)
{
	uintptr_t s = (uintptr_t)send, r = (uintptr_t)recv;
	return r - s < out || s - r < in;
}

bool banyan_commons_allgather(const void *send, int64_t count, MPI_Datatype datatype, void *recv, int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	struct call c;
	uint64_t bytes, each;
	if (!size(banyan_lane, send, count, datatype, &bytes) || !size(banyan_lane, recv, recvcount, recvtype, &each) || bytes != each ||
	    bytes > LANE_WHOLE / LANE_PARTS || !enter(&c, banyan_lane, comm, LANE_ALLGATHER, bytes))
		return false;
	if (UNLIKELY(overlap(send, bytes, recv, c.part->size * each)) || !publish(&c, send) || !hear_all(&c))
		return leave(&c, false);
	for (int i = 0; i < c.part->size; i++)
		memcpy((char *)recv + i * each, data(&c, i), each);
	return leave(&c, all_whole(&c) && end(&c, true));
}

bool banyan_commons_alltoall(const void *send, int64_t count, MPI_Datatype datatype, void *recv, int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm)
{
	struct call c;
	uint64_t bytes, each;
	if (!size(banyan_lane, send, count, datatype, &bytes) || !size(banyan_lane, recv, recvcount, recvtype, &each) || bytes != each ||
	    bytes > LANE_ROOM / LANE_PARTS || !enter(&c, banyan_lane, comm, LANE_ALLTOALL, 0))
		return false;
	int n = c.part->size, self = c.part->self;
	c.size = n * each;
	c.word |= c.size << (LANE_SIZE_SHIFT + LANE_NOTE_SHIFT);
	if (UNLIKELY(overlap(send, c.size, recv, c.size)) || !publish(&c, send) || !hear_all(&c))
		return leave(&c, false);
	for (int i = 0; i < n; i++)
		memcpy((char *)recv + i * each, data(&c, i) + self * each, each);
	return leave(&c, all_whole(&c) && end(&c, true));
}

// Reductions: sums, minima and maxima of numbers, in the order and with the brackets of package
// comm, where the number of members is a power of two. Where the result would depend on which
// operand of an instruction is which (NaNs, and the smaller of two zeros), Go computes it.

// COMBINE combines what all have given, element by element. sure tells whether v, the result of a
// and b, is what Go would compute.
#define COMBINE(type, expression, sure)                                                \
	for (uint64_t at = 0; at < c->size; at += sizeof(type)) {                      \
		type all[LANE_PARTS];                                                  \
		for (int i = 0; i < n; i++)                                            \
			memcpy(&all[i], data(c, i) + at, sizeof(type));                \
		for (int d = 1; d < n; d *= 2)                                         \
			for (int i = 0; i < n; i += 2 * d) {                           \
				type a = all[i], b = all[i + d], v = (expression);     \
				if (UNLIKELY(!(sure)))                                 \
					return false;                                  \
				all[i] = v;                                            \
			}                                                              \
		memcpy((char *)recv + at, &all[0], sizeof(type));                      \
	}                                                                              \
	return true

#define OPERATIONS(type, unsigned_type, real)                                          \
	if (op == MPI_SUM) {                                                           \
		COMBINE(unsigned_type, a + b, v == v);                                 \
	} else if (op == MPI_MIN) {                                                    \
		COMBINE(type, a < b ? a : b, !real || a < b || b < a || (a == b && a != 0)); \
	} else {                                                                       \
		COMBINE(type, a > b ? a : b, !real || a < b || b < a || (a == b && a != 0)); \
	}

// combine leaves the result in recv. It returns false if Go is to compute it, from what is in the
// common memory.
static bool combine(const struct call *c, void *recv, enum number of, MPI_Op op)
{
	int n = c->part->size;
	switch (of) {
	case DOUBLE:
		OPERATIONS(double, double, true);
	case FLOAT:
		OPERATIONS(float, float, true);
	case INT32:
		OPERATIONS(int32_t, uint32_t, false);
	case UINT32:
		OPERATIONS(uint32_t, uint32_t, false);
	case INT64:
		OPERATIONS(int64_t, uint64_t, false);
	case UINT64:
		OPERATIONS(uint64_t, uint64_t, false);
	default:
		break;
	}
	return false;
}

bool banyan_commons_allreduce(const void *send, void *recv, int64_t count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	struct call c;
	uint64_t bytes, same;
	enum number of = number(datatype);
	if (of == NO_NUMBER || (op != MPI_SUM && op != MPI_MIN && op != MPI_MAX))
		return false;
	bool in_place = send == MPI_IN_PLACE;
	if (in_place)
		send = recv;
	if (!size(banyan_lane, send, count, datatype, &bytes) || !size(banyan_lane, recv, count, datatype, &same) ||
	    (!in_place && UNLIKELY(overlap(send, bytes, recv, bytes))) || bytes > LANE_WHOLE / LANE_PARTS || !enter(&c, banyan_lane, comm, LANE_ALLREDUCE, bytes))
		return false;
	if (UNLIKELY((c.part->size & (c.part->size - 1)) != 0))
		return leave(&c, false);
	return leave(&c, publish(&c, send) && hear_all(&c) && combine(&c, recv, of, op) && all_whole(&c) && end(&c, true));
}
