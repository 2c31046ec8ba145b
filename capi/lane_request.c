// Requests that C knows: receives that have notes, and operations that ended within their calls.
// See lane.c for the invariants.
//
// A wait looks for some microseconds here, then in Go (banyan_lane_await), which polls, sleeps, and
// leaves the request to be ended here.

#include "lane_frame.h"

// search finds a free place, LANE_NOTES if there is none.
static __attribute__((noinline)) uint32_t search(struct lane_notes *all)
{
	for (int tries = 0; tries < LANE_NOTES; tries++) {
		uint32_t k = all->next++ % LANE_NOTES;
		if (all->table[k].state == LANE_FREE)
			return k;
	}
	return LANE_NOTES;
}

// place takes a free place for a note, which becomes the youngest of those without a message. It
// returns NULL if there is none.
static inline struct lane_note *place(struct lane_notes *all)
{
	uint32_t k = all->next++ % LANE_NOTES;
	if (UNLIKELY(all->table[k].state != LANE_FREE) && (k = search(all)) == LANE_NOTES)
		return NULL;
	struct lane_note *n = &all->table[k], *end = &all->table[LANE_NOTES];
	n->older = end->older;
	n->younger = LANE_NOTES;
	all->table[end->older].younger = (uint16_t)k;
	end->older = (uint16_t)k;
	return n;
}

static inline bool note(struct lane_memory *m, void *buf, uint64_t capacity, int source, int tag, MPI_Comm comm, bool blocking, MPI_Request *request)
{
	int32_t world;
	uint64_t context;
	struct lane_note *n;
	if (!idle(m) || !ends(m, comm, source, &world, &context) || !(n = place(&m->notes)))
		return false;
	n->state = LANE_WAITS;
	n->comm = (uintptr_t)comm;
	n->context = context;
	n->buffer = buf;
	n->room = capacity;
	n->world = world;
	n->source = source;
	n->tag = tag == MPI_ANY_TAG ? (int32_t)LANE_ANY_TAG : tag;
	n->flags = blocking ? LANE_BLOCKING : 0;
	m->waiting++;
	*request = (MPI_Request)(uintptr_t)n->handle;
	return true;
}

bool banyan_lane_note(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, bool blocking, MPI_Request *request)
{
	struct lane_memory *m = banyan_lane;
	uint64_t capacity;
	if (!size(m, buf, count, datatype, &capacity) || capacity > LANE_MOST || (tag < 0 && tag != MPI_ANY_TAG) || !idle(m) || !take_soon(m))
		return false;
	bool noted = !closed(m) && note(m, buf, capacity, source, tag, comm, blocking, request);
	leave(m);
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

// look tells whether a request has ended. It receives what comes before its message. It is
// BANYAN_UNKNOWN for Go's requests.
static enum banyan_lane_outcome look(struct lane_memory *m, MPI_Request request, int32_t spins)
{
	const struct lane_note *n = noted(m, request);
	if (!n) {
		bool ended = banyan_lane_sent(request) ? LOAD(&m->sends.cancelled) == 0 : request == MPI_REQUEST_NULL || request == BANYAN_NO_PROC;
		return ended ? BANYAN_OVER : BANYAN_UNKNOWN;
	}
	if (n->state == LANE_KEPT)
		return BANYAN_UNKNOWN;
	while (n->state == LANE_WAITS) {
		struct lane_ends *e = ((struct lane_ends *const *)m->peers)[n->world];
		struct frame f;
		if (!e || closed(m) || !next(m, e, n->world, spins, &f) || !fulfil(m, e, n->world, &f))
			return BANYAN_NOT_YET;
	}
	return n->state == LANE_RECEIVED ? BANYAN_OVER : BANYAN_NOT_YET;
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

static inline MPI_Status *at_status(MPI_Status *statuses, int64_t i)
{
	return statuses == MPI_STATUSES_IGNORE ? MPI_STATUS_IGNORE : &statuses[i];
}

// end_sent reports a send that ended within its call.
static inline void end_sent(MPI_Request *request, MPI_Status *status)
{
	fill(status, MPI_ANY_SOURCE, MPI_ANY_TAG, 0);
	*request = MPI_REQUEST_NULL;
}

// end_all ends requests if all are over; *from are. It returns the outcome of the first that isn't.
static enum banyan_lane_outcome end_all(struct lane_memory *m, int64_t count, MPI_Request *requests, MPI_Status *statuses, int32_t spins, int64_t *from)
{
	enum banyan_lane_outcome o = BANYAN_OVER;
	while (*from < count && (o = look(m, requests[*from], spins)) == BANYAN_OVER)
		++*from;
	for (int64_t k = 0; *from == count && k < count; k++)
		end(m, &requests[k], at_status(statuses, k));
	return o;
}

// patience is how long a thread has waited, one of several.
struct patience {
	int32_t looks, turns;
};

// BUSY is how many messages the other threads receive, at least, if it is they who have the core.
enum { BUSY = 100 };

// patient passes a moment without the lock, so that other threads receive, for this one, too. It
// returns false when it is time to sleep, in Go: also if a turn comes late, though no other thread of
// this process has received anything meanwhile. Then a program computes on this core, and no thread
// offers it for a while (decision 6).
static bool patient(struct lane_memory *m, struct patience *p)
{
	if (p->looks < m->looks) {
		p->looks++;
		pause_briefly();
		return true;
	}
	if (LOAD(&m->pause) != 0 || p->turns++ >= m->turns)
		return false;
	uint64_t polls = LOAD(&m->polls);
	int64_t before = now();
	sched_yield();
	if (now() - before < m->limit) {
		__atomic_add_fetch(&m->yielded, 1, __ATOMIC_RELAXED);
		return true;
	}
	if (LOAD(&m->polls) - polls < BUSY) {
		__atomic_store_n(&m->late, 1, __ATOMIC_RELAXED);
		__atomic_store_n(&m->pause, 1, __ATOMIC_RELAXED);
	}
	return false;
}

// on passes time until the next look at requests that haven't ended. It returns false if there is
// to be none: Go has waited already, or there are requests that C doesn't know.
static bool on(struct lane_memory *m, int64_t count, MPI_Request *requests, bool wait, int how, struct patience *p, bool *waited)
{
	if (*waited)
		return false;
	if (wait && threaded(m)) {
		__atomic_add_fetch(&m->here, 1, __ATOMIC_RELAXED);
		bool again = patient(m, p);
		__atomic_sub_fetch(&m->here, 1, __ATOMIC_RELAXED);
		if (again && (LOAD(&m->closed) & LANE_TICK) != 0)
			banyan_lane_await((int32_t)count, requests, BANYAN_SERVE);
		if (again)
			return true;
	}
	for (int64_t k = 0; k < count; k++)
		if (!banyan_lane_knows(requests[k]) && requests[k] != MPI_REQUEST_NULL)
			return false;
	banyan_lane_await((int32_t)count, requests, wait ? how : BANYAN_TEST);
	*waited = true;
	return true;
}

enum banyan_lane_outcome banyan_lane_end(int64_t count, MPI_Request *requests, MPI_Status *statuses, bool wait)
{
	struct lane_memory *m = banyan_lane;
	struct patience p = {0, 0};
	bool waited = false;
	int64_t from = 0;
	if (m->ranks == 0)
		return BANYAN_UNKNOWN;
	if (LOAD(&m->sends.cancelled) == 0)
		while (from < count && banyan_lane_sent(requests[from]))
			from++;
	if (from == count) { // no need for the lock
		for (int64_t k = 0; k < count; k++)
			end_sent(&requests[k], at_status(statuses, k));
		return BANYAN_OVER;
	}
	for (;;) {
		if (!take_soon(m))
			return BANYAN_UNKNOWN;
		enum banyan_lane_outcome o = end_all(m, count, requests, statuses, wait && !waited ? spins(m) : 0, &from);
		leave(m);
		if (o != BANYAN_NOT_YET)
			return o;
		if (!on(m, count - from, requests + from, wait, BANYAN_ALL, &p, &waited))
			return wait || !waited ? BANYAN_UNKNOWN : BANYAN_NOT_YET; // an error, perhaps
	}
}

// end_some ends at most so many of those requests that are over. The outcome is that of the first
// that isn't null, if none is over.
static enum banyan_lane_outcome end_some(struct lane_memory *m, int count, MPI_Request *requests, int most, int *ended, int *indices, MPI_Status *statuses)
{
	enum banyan_lane_outcome all = BANYAN_UNKNOWN;
	*ended = 0;
	for (int i = 0; i < count && *ended < most; i++) {
		if (requests[i] == MPI_REQUEST_NULL)
			continue;
		enum banyan_lane_outcome o = look(m, requests[i], 0);
		if (o == BANYAN_UNKNOWN)
			return *ended > 0 ? BANYAN_OVER : o;
		if (o == BANYAN_OVER) {
			end(m, &requests[i], at_status(statuses, *ended));
			indices[(*ended)++] = i;
		}
		all = all == BANYAN_OVER ? all : o;
	}
	return all;
}

enum banyan_lane_outcome banyan_lane_end_some(int count, MPI_Request *requests, int most, int *ended, int *indices, MPI_Status *statuses, bool wait)
{
	struct lane_memory *m = banyan_lane;
	struct patience p = {0, 0};
	bool waited = false;
	if (m->ranks == 0)
		return BANYAN_UNKNOWN;
	for (;;) {
		if (!take_soon(m))
			return BANYAN_UNKNOWN;
		enum banyan_lane_outcome o;
		int32_t looks = wait && !waited ? spins(m) / count : 0;
		do
			o = end_some(m, count, requests, most, ended, indices, statuses);
		while (o == BANYAN_NOT_YET && looks-- > 0 && LOAD(&m->word) == LANE_HELD && !closed(m));
		leave(m);
		if (o != BANYAN_NOT_YET)
			return o;
		if (!on(m, count, requests, wait, BANYAN_ANY, &p, &waited))
			return wait || !waited ? BANYAN_UNKNOWN : BANYAN_NOT_YET;
	}
}
