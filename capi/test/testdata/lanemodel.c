// Two processes of a host in one, as threads: each has the lane (lane.c, compiled twice) and a
// model in C of Go's side of it, so that ThreadSanitizer sees both. Messages must arrive whole and
// in order, whichever way each is sent and received, and no sleeper may be forgotten.
//
// With an odd seed several threads of each process receive.
//
//	lanemodel MESSAGES SEED
#include "modelmatch.h"

void peer_open(void *memory);
bool peer_send(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
MPI_Request peer_start_send(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);
bool peer_receive(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status);
bool peer_note(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, bool blocking, MPI_Request *request);
enum banyan_lane_outcome peer_end(int64_t count, MPI_Request *requests, MPI_Status *statuses, bool wait);
void peer_released(void);

static long messages;
static bool through;

void banyan_lane_await(int32_t count, MPI_Request *requests, int how) { await_notes(&procs[0], count, requests, how); }
void peer_await(int32_t count, MPI_Request *requests, int how) { await_notes(&procs[1], count, requests, how); }
void banyan_lane_rouse(void) { wake(&procs[0]); }
void peer_rouse(void) { wake(&procs[1]); }

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
		MPI_Request request = i % 2 ? s->p->start(data, n, MPI_BYTE, 1 - s->p->rank, s->tag, MPI_COMM_WORLD) : 0;
		bool sent = request || (i % 2 == 0 && s->p->send(data, n, MPI_BYTE, 1 - s->p->rank, s->tag, MPI_COMM_WORLD));
		if (request && (!banyan_lane_sent(request) || s->p->end(1, &request, MPI_STATUS_IGNORE, true) != BANYAN_OVER || request != MPI_REQUEST_NULL))
			fail("a send that was started hasn't ended");
		if (!sent)
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

// receiver is a thread that receives messages of a tag, or, if it is the only one, of any tag.
struct receiver {
	struct process *p;
	int tag;
	unsigned seed;
	uint64_t lane, go, noted; // how messages came; by notes that C has ended
	uint64_t polls;           // of them, those that C has received or Go has settled
};

static void start(struct receiver *r, struct started *s)
{
	struct process *p = r->p;
	memset(s->data, 0x55, sizeof s->data);
	if (p->note(s->data, LARGEST, MPI_BYTE, 1 - p->rank, s->tag, MPI_COMM_WORLD, false, &s->request))
		return;
	if (rand_r(&r->seed) % 2 && make_note(p, s->tag, s->data, &s->request))
		return;
	s->request = MPI_REQUEST_NULL;
	enter(p);
	post(p, &s->go, s->tag, s->data);
	leave(p);
}

static void finish(struct receiver *r, struct started *s)
{
	struct process *p = r->p;
	MPI_Status status;
	enum banyan_lane_outcome o = BANYAN_NOT_YET;
	if (s->request == MPI_REQUEST_NULL) {
		enter(p);
		await(p, &s->go);
		s->tag = s->go.got, s->bytes = s->go.bytes;
		leave(p);
		r->go++;
		return;
	}
	while (o == BANYAN_NOT_YET)
		o = p->end(1, &s->request, &status, rand_r(&r->seed) % 2);
	if (o == BANYAN_OVER) {
		s->tag = status.MPI_TAG, s->bytes = status.MPI_internal[1];
		r->noted++, r->polls++;
	} else {
		s->tag = end_note(p, s->request, &s->bytes, &r->polls);
		r->go++;
	}
}

static void *receives(void *arg)
{
	struct receiver *r = arg;
	struct process *p = r->p;
	static __thread struct started window[WIDEST];
	long *next = p->next;
	long all = r->tag == MPI_ANY_TAG ? TAGS * messages : messages;
	for (long k = 0; k < all;) {
		int wide = rand_r(&r->seed) % 4 ? 1 : 1 + rand_r(&r->seed) % WIDEST;
		if (wide > all - k)
			wide = all - k;
		for (int i = 0; i < wide; i++) {
			int tag = rand_r(&r->seed) % 32;
			if (r->tag != MPI_ANY_TAG)
				tag = r->tag;
			else if (tag >= TAGS || messages - next[tag] <= WIDEST)
				tag = MPI_ANY_TAG;
			window[i].tag = tag;
		}
		MPI_Status status;
		memset(window[0].data, 0x55, LARGEST);
		if (wide == 1 && p->receive(window[0].data, LARGEST, MPI_BYTE, 1 - p->rank, window[0].tag, MPI_COMM_WORLD, &status)) {
			window[0].tag = status.MPI_TAG, window[0].bytes = status.MPI_internal[1];
			r->lane++, r->polls++;
		} else {
			for (int i = 0; i < wide; i++)
				start(r, &window[i]);
			int turn = rand_r(&r->seed); // in any order
			for (int i = 0; i < wide; i++)
				finish(r, &window[(i + turn % wide) % wide]);
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
		leave(p);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	if (argc != 3)
		fail("usage: lanemodel MESSAGES SEED");
	messages = atol(argv[1]);
	bool several = atoi(argv[2]) % 2; // threads that receive
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
		if (several)
			p->m->looks = 20, p->m->turns = 20;
		p->m->self = k, p->m->ranks = 2, p->m->spins = 2000, p->m->peers = p->m + 1;
		((void **)p->m->peers)[1 - k] = p->e;
		for (int i = 0; i < LANE_NOTES; i++)
			p->m->notes.table[i].handle = LANE_FIRST_NOTE + (i << 4);
		p->m->notes.table[LANE_NOTES].older = p->m->notes.table[LANE_NOTES].younger = LANE_NOTES;
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
	procs[0].start = banyan_lane_start_send, procs[1].start = peer_start_send;
	procs[0].send = banyan_lane_send, procs[0].receive = banyan_lane_receive;
	procs[0].note = banyan_lane_note, procs[0].end = banyan_lane_end;
	procs[1].send = peer_send, procs[1].receive = peer_receive;
	procs[1].note = peer_note, procs[1].end = peer_end;

	pthread_t threads[2][2 * TAGS + 1];
	struct sender senders[2][TAGS];
	struct receiver receivers[2][TAGS];
	int each = several ? TAGS : 1;
	for (int k = 0; k < 2; k++) {
		for (int t = 0; t < TAGS; t++) {
			senders[k][t] = (struct sender){&procs[k], t};
			pthread_create(&threads[k][t], NULL, sends, &senders[k][t]);
		}
		for (int t = 0; t < each; t++) {
			receivers[k][t] = (struct receiver){&procs[k], several ? t : MPI_ANY_TAG, procs[k].seed + 1000 * t, 0, 0, 0, 0};
			pthread_create(&threads[k][TAGS + t], NULL, receives, &receivers[k][t]);
		}
		pthread_create(&threads[k][TAGS + each], NULL, ticks, &procs[k]);
	}
	for (int k = 0; k < 2; k++)
		for (int t = 0; t < TAGS + each; t++)
			pthread_join(threads[k][t], NULL);
	__atomic_store_n(&through, true, __ATOMIC_SEQ_CST);
	for (int k = 0; k < 2; k++) {
		struct process *p = &procs[k];
		pthread_join(threads[k][TAGS + each], NULL);
		struct receiver sum = {0};
		for (int t = 0; t < each; t++) {
			struct receiver *r = &receivers[k][t];
			sum.lane += r->lane, sum.go += r->go, sum.noted += r->noted, sum.polls += r->polls;
		}
		if (p->m->word || p->m->counts.posted || p->m->counts.unexpected || p->outbox.first || p->m->waiting || p->posted || p->m->requests || p->m->polls + p->settled != sum.polls || p->lent)
			fail("something is left");
		printf("process %d: %lu by the lane, %lu by notes, %lu by Go, %lu sent by the lane, %lu given back\n", k, (unsigned long)sum.lane, (unsigned long)sum.noted, (unsigned long)sum.go, (unsigned long)p->m->sent, (unsigned long)p->returned);
	}
	return 0;
}
