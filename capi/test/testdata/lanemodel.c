// Two processes of a host in one, as threads: each has the lane (lane.c, compiled twice) and a model
// in C of Go's side of it, so that ThreadSanitizer sees both. Messages must arrive whole and in
// order, whichever way each is sent and received, and no sleeper may be forgotten.
//
//	lanemodel MESSAGES SEED
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

void peer_open(void *memory);
bool peer_send(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
bool peer_receive(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status);
bool peer_note(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Request *request);
bool peer_end(int64_t count, MPI_Request *requests, MPI_Status *statuses, bool wait);
void peer_released(void);

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
	bool (*receive)(void *, int64_t, MPI_Datatype, int, int, MPI_Comm, MPI_Status *);
	bool (*note)(void *, int64_t, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
	bool (*end)(int64_t, MPI_Request *, MPI_Status *, bool);

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

	uint64_t lane, go, noted; // how messages came; by notes that C has received
	uint64_t polls;           // of them, how many C must have counted
	long next[TAGS];          // how many have come; senders are seldom far ahead of that
	unsigned seed;
} procs[2];

static long messages;
static bool through;

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
	for (uint32_t k = all->first; k != all->next; k++) {
		struct lane_note *n = &all->table[k % LANE_NOTES];
		if (n->state == LANE_WAITS) {
			n->state = LANE_POSTED;
			if (n->context != CONTEXT || n->world != 1 - p->rank || n->room != LARGEST)
				fail("nonsense in a note");
			post(p, &p->of[k % LANE_NOTES], n->tag == (int32_t)LANE_ANY_TAG ? MPI_ANY_TAG : n->tag, n->buffer);
		}
	}
	p->m->waiting = 0;
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
	unlock(p);
}

// nap waits until the peer rings. The lock is held, and given up meanwhile.
static void nap(struct process *p)
{
	__atomic_store_n(&p->bell, 0, __ATOMIC_SEQ_CST);
	if (poll_rings(p))
		return;
	unlock(p);
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
}

// await waits for a receive that is posted, and ends it. The lock is held.
static void await(struct process *p, struct receive *r)
{
	for (int idle = 0; poll_rings(p), !r->done; idle++) {
		if (idle < 20) {
			unlock(p);
			sched_yield();
			enter(p);
		} else
			nap(p);
	}
	ADD(p->m->requests, -1);
}

// end_note ends a request that C has noted, as Go does it: it returns the tag.
static int end_note(struct process *p, MPI_Request request, uint64_t *bytes)
{
	enter(p);
	uint32_t i = (((uintptr_t)request & (LANE_GENERATION - 1)) - LANE_FIRST_NOTE) >> 4;
	struct lane_note *n = &p->m->notes.table[i];
	int tag;
	if (n->handle != (uintptr_t)request)
		fail("a request without its note");
	if (n->state == LANE_RECEIVED) {
		tag = n->got, *bytes = n->bytes;
		p->polls++;
	} else {
		await(p, &p->of[i]);
		tag = p->of[i].got, *bytes = p->of[i].bytes;
	}
	n->state = LANE_FREE;
	n->handle = (n->handle + LANE_GENERATION) % LANE_LAST_HANDLE;
	unlock(p);
	return tag;
}

// The programs.

static uint64_t length(long i, int tag) { return 16 + (i * 37 + tag * 11) % (LARGEST - 16); }

struct sender {
	struct process *p;
	int tag;
};

static void *sends(void *arg)
{
	struct sender *s = arg;
	char data[LARGEST];
	for (long i = 0; i < messages; i++) {
		uint64_t n = length(i, s->tag);
		memset(data, (char)i, n);
		memcpy(data, &i, sizeof i);
		// Relaxed: ThreadSanitizer must not take it for an order.
		while (i - __atomic_load_n(&procs[1 - s->p->rank].next[s->tag], __ATOMIC_RELAXED) > WIDEST + i / 50 % 7 * 10)
			sched_yield();
		if (!s->p->send(data, n, MPI_BYTE, 1 - s->p->rank, s->tag, MPI_COMM_WORLD))
			go_send(s->p, s->tag, data, n);
	}
	return NULL;
}

// started is a receive of the program.
struct started {
	MPI_Request request; // of C's, or
	struct receive go;
	int tag;
	uint64_t bytes;
	char data[LARGEST + 1];
};

static void start(struct process *p, struct started *s)
{
	memset(s->data, 0x55, sizeof s->data);
	if (p->note(s->data, LARGEST, MPI_BYTE, 1 - p->rank, s->tag, MPI_COMM_WORLD, &s->request))
		return;
	s->request = MPI_REQUEST_NULL;
	enter(p);
	post(p, &s->go, s->tag, s->data);
	unlock(p);
}

static void finish(struct process *p, struct started *s)
{
	MPI_Status status;
	if (s->request == MPI_REQUEST_NULL) {
		enter(p);
		await(p, &s->go);
		s->tag = s->go.got, s->bytes = s->go.bytes;
		unlock(p);
		p->go++;
	} else if (p->end(1, &s->request, &status, rand_r(&p->seed) % 2)) {
		s->tag = status.MPI_TAG, s->bytes = status.MPI_internal[1];
		p->noted++, p->polls++;
	} else {
		s->tag = end_note(p, s->request, &s->bytes);
		p->go++;
	}
}

static void *receives(void *arg)
{
	struct process *p = arg;
	static __thread struct started window[WIDEST];
	long *next = p->next;
	for (long k = 0; k < TAGS * messages;) {
		int wide = rand_r(&p->seed) % 4 ? 1 : 1 + rand_r(&p->seed) % WIDEST;
		if (wide > TAGS * messages - k)
			wide = TAGS * messages - k;
		for (int i = 0; i < wide; i++) {
			int tag = rand_r(&p->seed) % 32;
			window[i].tag = tag >= TAGS || messages - next[tag] <= WIDEST ? MPI_ANY_TAG : tag;
		}
		MPI_Status status;
		memset(window[0].data, 0x55, LARGEST);
		if (wide == 1 && p->receive(window[0].data, LARGEST, MPI_BYTE, 1 - p->rank, window[0].tag, MPI_COMM_WORLD, &status)) {
			window[0].tag = status.MPI_TAG, window[0].bytes = status.MPI_internal[1];
			p->lane++, p->polls++;
		} else {
			for (int i = 0; i < wide; i++)
				start(p, &window[i]);
			int turn = rand_r(&p->seed); // in any order
			for (int i = 0; i < wide; i++)
				finish(p, &window[(i + turn % wide) % wide]);
		}
		for (int w = 0; w < wide; w++) {
			char *data = window[w].data;
			int tag = window[w].tag;
			uint64_t n = window[w].bytes;
			long i;
			memcpy(&i, data, sizeof i);
			if (i != next[tag])
				fail("a message out of order");
			if (n != length(i, tag) || data[n - 1] != (char)i || data[sizeof i] != (char)i || (n < LARGEST && data[n] != 0x55))
				fail("a message isn't whole");
			__atomic_store_n(&next[tag], i + 1, __ATOMIC_RELAXED);
		}
		k += wide;
	}
	return NULL;
}

// ticks is the progress thread.
static void *ticks(void *arg)
{
	struct process *p = arg;
	while (!__atomic_load_n(&through, __ATOMIC_SEQ_CST)) {
		usleep(200 + rand_r(&p->seed) % 200);
		__atomic_fetch_or(&p->m->closed, TICK, __ATOMIC_SEQ_CST);
		enter(p);
		poll_rings(p);
		unlock(p);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		fail("usage: lanemodel MESSAGES SEED");
	messages = atol(argv[1]);
	int fd = memfd_create("rings", 0);
	if (fd < 0 || ftruncate(fd, PAGE + 2 * RING))
		fail("memfd");
	char *base = mmap(NULL, PAGE + 4 * RING, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	long pieces[][3] = {{0, 0, PAGE}, {PAGE, PAGE, RING}, {PAGE + RING, PAGE, RING}, {PAGE + 2 * RING, PAGE + RING, RING}, {PAGE + 3 * RING, PAGE + RING, RING}};
	for (int i = 0; i < 5; i++)
		if (mmap(base + pieces[i][0], pieces[i][2], PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, pieces[i][1]) == MAP_FAILED)
			fail("mmap");
	for (int k = 0; k < 2; k++) {
		struct process *p = &procs[k], *q = &procs[1 - k];
		p->rank = k, p->seed = atoi(argv[2]) * 2 + k, p->e = &p->ends;
		p->alarm = eventfd(0, 0);
		p->unexpected.last = &p->unexpected.first, p->outbox.last = &p->outbox.first;
		pthread_mutex_init(&p->mutex, NULL), pthread_cond_init(&p->cond, NULL);
		p->m = calloc(1, sizeof *p->m + 2 * sizeof(void *));
		p->m->self = k, p->m->ranks = 2, p->m->spins = 2000, p->m->peers = p->m + 1;
		((void **)p->m->peers)[1 - k] = p->e;
		for (int i = 0; i < LANE_NOTES; i++)
			p->m->notes.table[i].handle = LANE_FIRST_NOTE + (i << 4);
		p->m->sizes[(uintptr_t)MPI_BYTE - LANE_FIRST_TYPE] = 1;
		uint64_t world = (uintptr_t)MPI_COMM_WORLD;
		p->m->comms[(world ^ world >> 4) % LANE_COMMS] = (struct lane_comm){.handle = world, .context = CONTEXT, .size = 2};
		for (int ring = 0; ring < 2; ring++) {
			struct lane_half half = {base + PAGE + ring * 2 * RING, RING, (struct lane_control *)(base + ring * 512)};
			if (ring == k)
				p->ends.out = (struct lane_writer){.half = half, .limit = RING, .clear = RING};
			else
				p->ends.in = (struct lane_reader){.half = half};
		}
		p->ends.bell = &q->bell, p->ends.bit = 1, p->ends.asleep = &q->asleep;
	}
	procs[0].ends.alarm = procs[1].alarm, procs[1].ends.alarm = procs[0].alarm;
	banyan_lane_open(procs[0].m), peer_open(procs[1].m);
	procs[0].send = banyan_lane_send, procs[0].receive = banyan_lane_receive;
	procs[0].note = banyan_lane_note, procs[0].end = banyan_lane_end;
	procs[1].send = peer_send, procs[1].receive = peer_receive;
	procs[1].note = peer_note, procs[1].end = peer_end;

	pthread_t threads[2][TAGS + 2];
	struct sender senders[2][TAGS];
	for (int k = 0; k < 2; k++) {
		for (int t = 0; t < TAGS; t++) {
			senders[k][t] = (struct sender){&procs[k], t};
			pthread_create(&threads[k][t], NULL, sends, &senders[k][t]);
		}
		pthread_create(&threads[k][TAGS], NULL, receives, &procs[k]);
		pthread_create(&threads[k][TAGS + 1], NULL, ticks, &procs[k]);
	}
	for (int k = 0; k < 2; k++)
		for (int t = 0; t <= TAGS; t++)
			pthread_join(threads[k][t], NULL);
	__atomic_store_n(&through, true, __ATOMIC_SEQ_CST);
	for (int k = 0; k < 2; k++) {
		struct process *p = &procs[k];
		pthread_join(threads[k][TAGS + 1], NULL);
		if (p->m->word || p->m->counts.posted || p->m->counts.unexpected || p->outbox.first || p->m->waiting || p->posted || p->m->requests || p->m->polls != p->polls)
			fail("something is left");
		printf("process %d: %lu by the lane, %lu by notes, %lu by Go, %lu sent by the lane\n", k, (unsigned long)p->lane, (unsigned long)p->noted, (unsigned long)p->go, (unsigned long)p->m->sent);
	}
	return 0;
}
