// modelrings.h: Go's lock and rings in C, for lanemodel.c.
#ifndef MODELRINGS_H
#define MODELRINGS_H

#define _GNU_SOURCE
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include "lane.h"

enum { RING = 4096, PAGE = 4096, TAGS = 2, LARGEST = 300, TICK = 1, CONTEXT = 2, WIDEST = 8 };

// C looks at counts without the lock, as a guess.
#define ADD(count, n) __atomic_store_n(&(count), (count) + (n), __ATOMIC_RELAXED)

struct message {
	struct message *next;
	int tag;
	uint64_t bytes;
	char data[];
};

struct list {
	struct message *first, **last;
};

// receive is one that Go has posted.
struct receive {
	struct receive *next;
	bool done;
	int wanted, got; // tags
	char *buffer;
	uint64_t bytes;
};

static struct process {
	int rank;
	struct lane_memory *m;
	struct lane_ends *e, ends;
	bool (*send)(const void *, int64_t, MPI_Datatype, int, int, MPI_Comm);
	MPI_Request (*start)(const void *, int64_t, MPI_Datatype, int, int, MPI_Comm);
	bool (*receive)(void *, int64_t, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
	bool (*note)(void *, int64_t, MPI_Datatype, int, int, MPI_Comm, bool, MPI_Request *);
	enum banyan_lane_outcome (*end)(int64_t, MPI_Request *, MPI_Status *, bool);

	pthread_mutex_t mutex; // of the token
	pthread_cond_t cond;
	bool token;

	uint64_t bell; // rung by the peer
	uint32_t asleep;
	int alarm;

	// The lock's owner's:
	struct list unexpected, outbox;
	struct receive *posted;           // those without a message, the oldest first
	struct receive of[LANE_NOTES];    // notes that Go has posted

	uint64_t settled;         // notes whose message Go has received
	uint64_t returned;        // notes that Go has given back
	int64_t lent;             // notes that Go has posted and may give back
	bool napping;             // a thread is in nap
	long next[TAGS];          // how many have come; senders are seldom far ahead of that
	unsigned seed;
} procs[2];

static void fail(const char *what)
{
	fprintf(stderr, "lanemodel: %s\n", what);
	exit(1);
}

// The lock, as package lane's Lock has it.

static void signal_one(struct process *p)
{
	pthread_mutex_lock(&p->mutex);
	p->token = true;
	pthread_cond_signal(&p->cond);
	pthread_mutex_unlock(&p->mutex);
}

void banyan_lane_released(void) { signal_one(&procs[0]); }
void peer_released(void) { signal_one(&procs[1]); }

static void await_token(struct process *p)
{
	pthread_mutex_lock(&p->mutex);
	while (!p->token)
		pthread_cond_wait(&p->cond, &p->mutex);
	p->token = false;
	pthread_mutex_unlock(&p->mutex);
}

static void lock(struct process *p)
{
	uint32_t word = 0;
	if (__atomic_compare_exchange_n(&p->m->word, &word, 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
		return;
	if (__atomic_add_fetch(&p->m->word, 2, __ATOMIC_SEQ_CST) >= 4)
		await_token(p);
	for (;; await_token(p))
		for (int i = 0; i < 10; i++) {
			word = __atomic_load_n(&p->m->word, __ATOMIC_SEQ_CST);
			if (!(word & 1) && __atomic_compare_exchange_n(&p->m->word, &word, word - 1, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST))
				return;
		}
}

static void unlock(struct process *p)
{
	if (__atomic_sub_fetch(&p->m->word, 1, __ATOMIC_SEQ_CST) != 0)
		signal_one(p);
}

// The rings, as package shm has them.

static char *at(struct lane_half *h, uint64_t position) { return (char *)h->data + position % h->size; }
static uint64_t lines(uint64_t n) { return (n + 63) / 64 * 64; }

static bool write_frame(struct process *p, int tag, const void *data, uint64_t n)
{
	struct lane_writer *w = &p->e->out;
	uint64_t next = w->tail + lines(40 + n);
	if (next + LANE_WINDOW > w->limit)
		w->limit = __atomic_load_n(&w->half.control->head, __ATOMIC_SEQ_CST) + w->half.size;
	if (next + LANE_WINDOW > w->limit)
		return false;
	struct lane_short *s = (struct lane_short *)at(&w->half, w->tail);
	s->context = CONTEXT, s->seq = 0, s->src = p->rank, s->dst = 1 - p->rank, s->tag = tag, s->total = n;
	memcpy((char *)s + 40, data, n);
	if (w->clear <= next) {
		*(uint64_t *)at(&w->half, next) = 0;
		w->clear = next + 64;
	}
	__atomic_store_n((uint64_t *)s, 1 | LANE_EAGER << 8 | n << 32, __ATOMIC_SEQ_CST);
	for (w->tail = next; w->clear < next + LANE_WINDOW; w->clear += 64)
		*(uint64_t *)at(&w->half, w->clear) = 0;
	return true;
}

static void ring(struct process *p)
{
	struct lane_ends *e = p->e;
	if (!(__atomic_load_n(e->bell, __ATOMIC_SEQ_CST) & e->bit))
		__atomic_fetch_or(e->bell, e->bit, __ATOMIC_SEQ_CST);
	uint32_t one = 1;
	if (__atomic_load_n(e->asleep, __ATOMIC_SEQ_CST) && __atomic_compare_exchange_n(e->asleep, &one, 0, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
		uint64_t add = 1;
		if (write(e->alarm, &add, 8) != 8)
			fail("eventfd");
	}
}

#endif
