// modelmatch.h: Go's matching in C, for lanemodel.c: receives that are posted, messages that are
// unexpected, and the notes of C, which Go posts and gives back.
#ifndef MODELMATCH_H
#define MODELMATCH_H

#include "modelrings.h"

static struct message *take(struct list *l, struct message **at)
{
	struct message *m = *at;
	*at = m->next;
	if (!m->next)
		l->last = at;
	return m;
}

static void add(struct list *l, int tag, const void *data, uint64_t n)
{
	struct message *m = malloc(sizeof *m + n);
	m->next = NULL, m->tag = tag, m->bytes = n;
	memcpy(m->data, data, n);
	*l->last = m;
	l->last = &m->next;
}

// poll moves what can be moved. The lock is held.
static bool poll_rings(struct process *p)
{
	bool moved = false;
	struct lane_reader *r = &p->e->in;
	if (p->outbox.first) {
		__atomic_store_n(&p->e->out.half.control->hungry, 1, __ATOMIC_SEQ_CST);
		while (p->outbox.first && write_frame(p, p->outbox.first->tag, p->outbox.first->data, p->outbox.first->bytes)) {
			free(take(&p->outbox, &p->outbox.first));
			ring(p);
			moved = true;
		}
		if (!p->outbox.first)
			__atomic_store_n(&p->e->out.half.control->hungry, 0, __ATOMIC_SEQ_CST);
	}
	p->e->queued = p->outbox.first != NULL;
	for (uint64_t word; (word = __atomic_load_n((uint64_t *)at(&r->half, r->head), __ATOMIC_SEQ_CST)) != 0; moved = true) {
		struct lane_short *s = (struct lane_short *)at(&r->half, r->head);
		uint64_t n = word >> 32;
		if ((uint32_t)word != (1 | LANE_EAGER << 8) || s->total != n || s->src != 1 - p->rank)
			fail("nonsense in the ring");
		struct receive **to = &p->posted;
		while (*to && (*to)->wanted != s->tag && (*to)->wanted != MPI_ANY_TAG)
			to = &(*to)->next;
		struct receive *found = *to;
		if (found) {
			memcpy(found->buffer, (char *)s + 40, n);
			found->got = s->tag, found->bytes = n, found->done = true, *to = found->next;
			ADD(p->m->counts.posted, -1);
		} else {
			add(&p->unexpected, s->tag, (char *)s + 40, n);
			ADD(p->m->counts.unexpected, 1);
		}
		r->head += lines(40 + n);
		uint64_t read = r->head - r->told;
		struct lane_control *c = r->half.control;
		if (read >= r->half.size / LANE_TELL_SHARE ||
		    (__atomic_load_n(&c->hungry, __ATOMIC_SEQ_CST) && !__atomic_load_n((uint64_t *)at(&r->half, r->head), __ATOMIC_SEQ_CST))) {
			__atomic_store_n(&c->head, r->head, __ATOMIC_SEQ_CST);
			r->told = r->head;
			if (__atomic_load_n(&c->hungry, __ATOMIC_SEQ_CST)) {
				__atomic_store_n(&c->hungry, 0, __ATOMIC_SEQ_CST);
				ring(p);
			}
		}
	}
	__atomic_fetch_and(&p->m->closed, ~TICK, __ATOMIC_SEQ_CST);
	return moved;
}

// post posts a receive. The lock is held.
static void post(struct process *p, struct receive *r, int tag, char *buffer)
{
	*r = (struct receive){.wanted = tag, .buffer = buffer};
	ADD(p->m->requests, 1);
	struct message **m = &p->unexpected.first;
	while (*m && tag != MPI_ANY_TAG && (*m)->tag != tag)
		m = &(*m)->next;
	if (*m) {
		struct message *found = take(&p->unexpected, m);
		ADD(p->m->counts.unexpected, -1);
		memcpy(buffer, found->data, r->bytes = found->bytes);
		r->got = found->tag, r->done = true;
		free(found);
		return;
	}
	struct receive **last = &p->posted;
	while (*last)
		last = &(*last)->next;
	*last = r;
	ADD(p->m->counts.posted, 1);
}

// enter takes the lock, and posts what C has noted.
static void enter(struct process *p)
{
	lock(p);
	struct lane_notes *all = &p->m->notes;
	if (p->m->waiting == 0)
		return;
	for (uint32_t k = all->table[LANE_NOTES].younger; k != LANE_NOTES; k = all->table[k].younger) {
		struct lane_note *n = &all->table[k];
		if (n->state == LANE_WAITS) {
			n->state = LANE_POSTED, p->lent++;
			if (n->context != CONTEXT || n->world != 1 - p->rank || n->room != LARGEST)
				fail("nonsense in a note");
			post(p, &p->of[k], n->tag == (int32_t)LANE_ANY_TAG ? MPI_ANY_TAG : n->tag, n->buffer);
		}
	}
	p->m->waiting = 0;
}

// unlisted takes a note out of the list of those without a message.
static void unlisted(struct process *p, struct lane_note *n)
{
	struct lane_note *table = p->m->notes.table;
	table[n->older].younger = n->younger, table[n->younger].older = n->older;
}

// settle leaves a receive that has ended to C.
static void settle(struct process *p, struct lane_note *n)
{
	struct receive *r = &p->of[n - p->m->notes.table];
	n->state = LANE_RECEIVED, n->got = r->got, n->bytes = r->bytes;
	ADD(p->m->requests, -1);
	unlisted(p, n);
	p->lent--, p->settled++;
}

// leave gives the notes back to C, if they are all that is under way, and the lock.
static void leave(struct process *p)
{
	struct lane_notes *all = &p->m->notes;
	if (p->lent != 0 && p->m->requests == p->lent)
		for (uint32_t k = all->table[LANE_NOTES].younger, younger; k != LANE_NOTES; k = younger) {
			struct lane_note *n = &all->table[k];
			struct receive *r = &p->of[k], **at = &p->posted;
			younger = n->younger;
			if (n->state != LANE_POSTED)
				continue;
			if (r->done) {
				settle(p, n);
				continue;
			}
			while (*at != r)
				at = &(*at)->next;
			*at = r->next;
			ADD(p->m->counts.posted, -1);
			ADD(p->m->requests, -1);
			n->state = LANE_WAITS, p->m->waiting++, p->lent--, p->returned++;
		}
	unlock(p);
}

// make_note starts a receive by a note that Go makes. It returns false if there is no room.
static bool make_note(struct process *p, int tag, char *buffer, MPI_Request *request)
{
	enter(p);
	struct lane_notes *all = &p->m->notes;
	bool made = false;
	for (int tries = 0; !made && tries < LANE_NOTES; tries++) {
		struct lane_note *n = &all->table[all->next++ % LANE_NOTES];
		if (n->state != LANE_FREE)
			continue;
		n->state = LANE_POSTED, p->lent++;
		struct lane_note *end = &all->table[LANE_NOTES];
		n->older = end->older, n->younger = LANE_NOTES;
		all->table[n->older].younger = end->older = (uint16_t)(n - all->table);
		n->comm = (uintptr_t)MPI_COMM_WORLD, n->context = CONTEXT, n->buffer = buffer, n->room = LARGEST;
		n->world = n->source = 1 - p->rank, n->tag = tag == MPI_ANY_TAG ? (int32_t)LANE_ANY_TAG : tag;
		*request = (MPI_Request)(uintptr_t)n->handle;
		post(p, &p->of[n - all->table], tag, buffer);
		made = true;
	}
	leave(p);
	return made;
}

static void go_send(struct process *p, int tag, const void *data, uint64_t n)
{
	enter(p);
	if (!p->outbox.first && write_frame(p, tag, data, n))
		ring(p);
	else {
		add(&p->outbox, tag, data, n);
		p->e->queued = 1;
		poll_rings(p);
	}
	leave(p);
}

// nap waits until the peer rings. The lock is held, and given up meanwhile.
static void nap(struct process *p)
{
	__atomic_store_n(&p->bell, 0, __ATOMIC_SEQ_CST);
	if (poll_rings(p))
		return;
	p->napping = true;
	leave(p);
	__atomic_store_n(&p->asleep, 1, __ATOMIC_SEQ_CST);
	if (!__atomic_load_n(&p->bell, __ATOMIC_SEQ_CST)) {
		struct pollfd fd = {p->alarm, POLLIN, 0};
		uint64_t count;
		int ready;
		while ((ready = poll(&fd, 1, 60000)) < 0 && errno == EINTR)
			;
		if (ready != 1)
			fail("a sleeper is forgotten");
		if (read(p->alarm, &count, 8) != 8)
			fail("eventfd");
	}
	if (__atomic_exchange_n(&p->asleep, 0, __ATOMIC_SEQ_CST) == 0) {
		// The peer has written, or will; what it writes ends a later nap early.
	}
	enter(p);
	p->napping = false;
}

// wake ends a nap. It is banyan_lane_rouse.
static void wake(struct process *p)
{
	uint32_t one = 1;
	uint64_t add = 1;
	enter(p);
	bool napping = p->napping;
	leave(p);
	__atomic_store_n(&p->bell, 1, __ATOMIC_SEQ_CST);
	if (napping && __atomic_compare_exchange_n(&p->asleep, &one, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST) && write(p->alarm, &add, 8) != 8)
		fail("eventfd");
}

// pass passes a moment between polls. The lock is held, and given up meanwhile.
static void pass(struct process *p, int idle)
{
	if (idle < 20) {
		unlock(p);
		sched_yield();
		enter(p);
	} else if (p->napping) {
		leave(p);
		usleep(50);
		enter(p);
	} else
		nap(p);
}

// await waits for a receive that is posted, and ends it. The lock is held.
static void await(struct process *p, struct receive *r)
{
	for (int idle = 0; poll_rings(p), !r->done; idle++)
		pass(p, idle);
	ADD(p->m->requests, -1);
}

// note_of is the note of a request, NULL if it has none.
static struct lane_note *note_of(struct process *p, MPI_Request request)
{
	uint32_t i = (((uintptr_t)request & (LANE_GENERATION - 1)) - LANE_FIRST_NOTE) >> 4;
	struct lane_note *n = &p->m->notes.table[i % LANE_NOTES];
	return i < LANE_NOTES && n->handle == (uintptr_t)request ? n : NULL;
}

// of is what Go has posted for a note.
static struct receive *of(struct process *p, struct lane_note *n) { return &p->of[n - p->m->notes.table]; }

// await_notes is banyan_lane_await.
static void await_notes(struct process *p, int count, MPI_Request *requests, int how)
{
	enter(p);
	for (int i = 0; i < count; i++) {
		struct lane_note *n = note_of(p, requests[i]);
		if (!n)
			continue;
		n->flags |= LANE_AWAITED;
		poll_rings(p);
		for (int idle = 0; how != BANYAN_TEST && n->state == LANE_POSTED && !of(p, n)->done; idle++, poll_rings(p))
			pass(p, idle);
		if (n->state == LANE_POSTED && of(p, n)->done)
			settle(p, n);
		n->flags &= ~LANE_AWAITED;
	}
	leave(p);
}

// end_note ends a request that has a note, as Go does it: it returns the tag.
static int end_note(struct process *p, MPI_Request request, uint64_t *bytes, uint64_t *polls)
{
	enter(p);
	struct lane_note *n = note_of(p, request);
	if (!n)
		fail("a request without its note");
	if (n->state == LANE_POSTED) {
		n->state = LANE_KEPT, p->lent--;
		unlisted(p, n);
		await(p, of(p, n));
		n->got = of(p, n)->got, n->bytes = of(p, n)->bytes;
	} else
		++*polls;
	int tag = n->got;
	*bytes = n->bytes;
	n->state = LANE_FREE;
	n->handle = (n->handle + LANE_GENERATION) % LANE_LAST_HANDLE;
	leave(p);
	return tag;
}

#endif
