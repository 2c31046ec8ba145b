// lane KIND SEED PROGRAMS runs random programs of messages, from a seed on, the same whatever way the
// messages take: in each program all ranks go through the same list of messages, sends those that are its own, in one of several ways, and
// receives those for it, in buffers of several types. Each message is checked, and the output has a sum over all of them. KIND is
// plain, threads (several such programs at the same time), signals (a timer interrupts it), forks
// (it forks meanwhile) or kill (rank 1 is killed, see killed).
#include <mpi.h>

#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

enum { EVENTS = 250, LATER = 8, LARGEST = 100000, THREADS = 3, COMMS = 3, LAYOUTS = 7, SPREAD = 3 };

// layout is a type of bytes, and where the bytes of an instance lie; extent is at most SPREAD times the size.
static struct layout {
	MPI_Datatype type;
	int size, extent, at[1000];
} layouts[LAYOUTS];

// lay makes the types: bytes, and others by runs that are equal, or at equal distances, or neither,
// in large and in small types.
static void lay(void)
{
	int blocks[] = {1, 5, 2}, places[] = {3, 20, 10};
	MPI_Datatype made[LAYOUTS] = {MPI_BYTE};
	MPI_Type_contiguous(4, MPI_BYTE, &made[1]);
	MPI_Type_create_resized(made[1], 0, 7, &made[2]);
	MPI_Type_vector(2, 4, 7, MPI_BYTE, &made[3]);
	MPI_Type_indexed(3, blocks, places, MPI_BYTE, &made[4]);
	MPI_Type_vector(125, 8, 20, MPI_BYTE, &made[5]);
	int runs[] = {3, 7, 9, 16, 31, 34}, from[] = {0, 12, 25, 40, 60, 100}; // each is copied in another way
	MPI_Type_indexed(6, runs, from, MPI_BYTE, &made[6]);
	for (int t = 0; t < LAYOUTS; t++) {
		struct layout *l = &layouts[t];
		MPI_Aint low = 0, extent;
		if (t == 4) {
			MPI_Type_create_resized(made[t], 0, 24, &l->type);
			MPI_Type_free(&made[t]);
		} else {
			l->type = made[t];
		}
		if (t > 0)
			OK(MPI_Type_commit(&l->type));
		MPI_Type_size(l->type, &l->size);
		MPI_Type_get_extent(l->type, &low, &extent);
		CHECK(low == 0);
		l->extent = (int)extent;
		for (int i = 0; i < l->size; i++)
			l->at[i] = t == 3 ? i / 4 * 7 + i % 4 : t == 4 ? (i < 1 ? 3 : i < 6 ? 20 + i - 1 : 10 + i - 6) : t == 5 ? i / 8 * 20 + i % 8 : i;
		for (int i = 0, k = 0; t == 6 && k < 6; k++)
			for (int b = 0; b < runs[k]; b++)
				l->at[i++] = from[k] + b;
	}
}

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

struct program {
	MPI_Comm comms[COMMS]; // the last one is for windows
	uint64_t seed, sum;
	int rank, size, messages, forks;
};

struct event {
	int from, to, tag, bytes, comm, sends, receives, exchanged, window;
	const struct layout *out, *in; // NULL: bytes
	MPI_Request request;
	char *buffer;
};

enum { NOW, NOW_ANY_TAG, NOW_ANY_SOURCE, PROBED, POSTED, POSTED_BEFORE, LATER_ON, RECEIVES };

static struct event event(const struct program *p, int k)
{
	uint64_t r = mix(p->seed * 1000003 + k);
	struct event e = {.from = r % p->size, .to = (r >> 8) % (p->size - 1), .tag = k + p->seed % 1024 * 1024, .comm = (r >> 16) % 2, .sends = (r >> 20) % 4, .receives = (r >> 24) % RECEIVES};
	int sizes[] = {0, 1, 8, 8, 24, 100, 1000, 4000, 4096, 4097, 20000, LARGEST};
	e.to += e.to >= e.from;
	e.bytes = sizes[(r >> 32) % 12];
	e.out = &layouts[(r >> 48) % LAYOUTS], e.in = &layouts[(r >> 54) % LAYOUTS];
	e.out = e.bytes % e.out->size ? &layouts[0] : e.out;
	e.in = e.bytes % e.in->size ? &layouts[0] : e.in;
	if (e.bytes > 4096 && e.receives >= POSTED_BEFORE) // its sender may wait for the receive
		e.receives = NOW;
	int calm = p->seed % 2; // so that Go is seldom needed
	if (calm && e.receives >= POSTED_BEFORE)
		e.receives -= POSTED_BEFORE;
	e.exchanged = e.receives == NOW && e.sends == 0;
	e.window = (r >> 40) % (calm ? 4 : 8) == 0;
	return e;
}

static void fill(const struct program *p, int k, char *buffer, int bytes)
{
	for (int i = 0; i < bytes; i++)
		buffer[i] = mix(p->seed + k) + i * 7;
}

// in is a rank of the world in a communicator: in the second one they are the other way round.
static int in(const struct program *p, int comm, int rank) { return comm == 1 ? p->size - 1 - rank : rank; }

// place puts bytes where a layout has them.
static void place(const struct layout *l, char *to, const char *from, int bytes)
{
	for (int i = 0; i < bytes; i++)
		to[i / l->size * l->extent + l->at[i % l->size]] = from[i];
}

static void check(struct program *p, int k, struct event *e, const MPI_Status *s)
{
	static __thread char want[LARGEST], spread[SPREAD * LARGEST + 1];
	const struct layout *l = e->in ? e->in : &layouts[0];
	int count, most = e->bytes / l->size * l->extent + 1;
	MPI_Get_count(s, MPI_BYTE, &count);
	fill(p, k, want, e->bytes);
	memset(spread, 0x55, most);
	place(l, spread, want, e->bytes);
	if (s->MPI_SOURCE != in(p, e->comm, e->from) || s->MPI_TAG != e->tag || count != e->bytes || memcmp(spread, e->buffer, most) != 0) {
		fprintf(stderr, "seed %lu: message %d of %d bytes from %d: came %d from %d with tag %d\n", (unsigned long)p->seed, k, e->bytes, e->from, count, s->MPI_SOURCE, s->MPI_TAG);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	p->sum = mix(p->sum ^ mix(k) ^ s->MPI_SOURCE ^ (uint64_t)count << 32);
	p->messages++;
	free(e->buffer);
	e->buffer = NULL;
}

static char *room(int bytes)
{
	char *b = malloc(SPREAD * bytes + 1);
	memset(b, 0x55, SPREAD * bytes + 1);
	return b;
}

// outgoing is message k where its sender's layout has it.
static char *outgoing(const struct program *p, int k, const struct event *e)
{
	static __thread char whole[LARGEST];
	char *data = room(e->bytes);
	fill(p, k, whole, e->bytes);
	place(e->out, data, whole, e->bytes);
	return data;
}

static void send(struct program *p, int k, struct event *e)
{
	char *data = outgoing(p, k, e);
	MPI_Request r;
	int flag = 0, count = e->bytes / e->out->size;
	switch (e->sends) {
	case 0:
		OK(MPI_Isend(data, count, e->out->type, in(p, e->comm, e->to), e->tag, p->comms[e->comm], &r));
		OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
		break;
	case 1:
		OK(MPI_Isend(data, count, e->out->type, in(p, e->comm, e->to), e->tag, p->comms[e->comm], &r));
		while (!flag)
			OK(MPI_Test(&r, &flag, MPI_STATUS_IGNORE));
		break;
	default:
		OK(MPI_Send(data, count, e->out->type, in(p, e->comm, e->to), e->tag, p->comms[e->comm]));
	}
	memset(data, 0, SPREAD * e->bytes);
	free(data);
}

static void receive(struct program *p, int k, struct event *e, int alone)
{
	MPI_Comm comm = p->comms[e->comm];
	MPI_Status s;
	int how = e->receives, flag = 0, count = e->bytes / e->in->size;
	e->buffer = e->buffer ? e->buffer : room(e->bytes);
	switch (how == NOW_ANY_TAG && !alone ? NOW : how) {
	case NOW_ANY_TAG:
		OK(MPI_Recv(e->buffer, count, e->in->type, in(p, e->comm, e->from), MPI_ANY_TAG, comm, &s));
		break;
	case NOW_ANY_SOURCE:
		OK(MPI_Recv(e->buffer, count, e->in->type, MPI_ANY_SOURCE, e->tag, comm, &s));
		break;
	case PROBED:
		while (!flag)
			OK(MPI_Iprobe(in(p, e->comm, e->from), e->tag, comm, &flag, &s));
		OK(MPI_Recv(e->buffer, count, e->in->type, in(p, e->comm, e->from), e->tag, comm, &s));
		break;
	case POSTED:
		OK(MPI_Irecv(e->buffer, count, e->in->type, in(p, e->comm, e->from), e->tag, comm, &e->request));
		OK(MPI_Wait(&e->request, &s));
		break;
	default:
		OK(MPI_Recv(e->buffer, count, e->in->type, in(p, e->comm, e->from), e->tag, comm, &s));
	}
	check(p, k, e, &s);
}

// exchange has two ranks send each other a message at the same time.
static void exchange(struct program *p, int k, struct event *e)
{
	struct event back = *e; // what comes to this rank
	MPI_Status s;
	int peer = e->from == p->rank ? e->to : e->from, out = e->from == p->rank ? k : k + EVENTS, in_ = e->from == p->rank ? k + EVENTS : k;
	char *data = outgoing(p, out, e);
	back.from = peer;
	back.buffer = room(e->bytes);
	OK(MPI_Sendrecv(data, e->bytes / e->out->size, e->out->type, in(p, e->comm, peer), e->tag, back.buffer, e->bytes / e->in->size, e->in->type, in(p, e->comm, peer), e->tag, p->comms[e->comm], &s));
	check(p, in_, &back, &s);
	free(data);
}

#include "lanewindow.h"

static void fork_one(struct program *p)
{
	pid_t child = fork();
	if (child == 0) {
		int x = 0; // the child has no part in the job
		fclose(stderr);
		if (MPI_Send(&x, 1, MPI_INT, !p->rank, 1 << 20, MPI_COMM_WORLD) == MPI_SUCCESS)
			_exit(1);
		_exit(MPI_Recv(&x, 1, MPI_INT, !p->rank, 1 << 20, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
	}
	int status = -1;
	CHECK(waitpid(child, &status, 0) == child && status == 0);
}

static void *run(void *arg)
{
	struct program *p = arg;
	struct event *later[EVENTS + LATER] = {0}, *all = calloc(EVENTS, sizeof *all);
	for (int k = 0; k < EVENTS; k++)
		all[k] = event(p, k);
	int waits = 0; // messages that are received later
	for (int k = 0; k < EVENTS + LATER; k++) {
		if (k + LATER / 2 < EVENTS) { // post a receive some messages before its own comes
			struct event *e = &all[k + LATER / 2];
			if (e->to == p->rank && e->receives == POSTED_BEFORE && !e->window) {
				e->buffer = room(e->bytes);
				OK(MPI_Irecv(e->buffer, e->bytes / e->in->size, e->in->type, in(p, e->comm, e->from), e->tag, p->comms[e->comm], &e->request));
			}
		}
		if (p->forks && k % 100 == 50)
			fork_one(p);
		if (later[k]) {
			waits--;
			receive(p, later[k] - all, later[k], 0);
		}
		if (k >= EVENTS)
			continue;
		struct event *e = &all[k];
		if (e->window) {
			if (e->from == p->rank || e->to == p->rank)
				windows(p, k, e);
			continue;
		}
		if (e->exchanged) {
			if (e->from == p->rank || e->to == p->rank)
				exchange(p, k, e);
			continue;
		}
		if (e->from == p->rank)
			send(p, k, e);
		if (e->to != p->rank)
			continue;
		MPI_Status s;
		if (e->receives == LATER_ON) {
			later[k + LATER] = e;
			waits++;
		} else if (e->receives == POSTED_BEFORE && e->request != MPI_REQUEST_NULL && e->buffer) {
			OK(MPI_Wait(&e->request, &s));
			check(p, k, e, &s);
		} else
			receive(p, k, e, waits == 0);
	}
	free(all);
	return NULL;
}

static volatile sig_atomic_t interrupts;
static void interrupt(int signal) { interrupts++; }

// killed: ranks 0 and 2 each exchange numbers with rank 1, which is killed at some moment. From then
// on their calls fail, and they go on with each other.
static void killed(int rank, uint64_t seed)
{
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	int failed = 0;
	for (long i = 0; rank == 1 || !failed; i++) {
		long got = -1;
		MPI_Request r;
		for (int other = 0; other < 3; other += 2) {
			int peer = rank == 1 ? other : 1;
			if (rank != 1 && other != rank)
				continue;
			if (rank != 1 && MPI_Send(&i, 1, MPI_LONG, peer, 0, MPI_COMM_WORLD) != MPI_SUCCESS)
				failed = 1;
			else if (mix(seed + i) % 2 && MPI_Recv(&got, 1, MPI_LONG, peer, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE) != MPI_SUCCESS)
				failed = 1;
			else if (mix(seed + i) % 2 == 0 && (MPI_Irecv(&got, 1, MPI_LONG, peer, 0, MPI_COMM_WORLD, &r) != MPI_SUCCESS || MPI_Wait(&r, MPI_STATUS_IGNORE) != MPI_SUCCESS))
				failed = 1;
			else {
				CHECK(got == i);
				if (rank == 1)
					MPI_Send(&i, 1, MPI_LONG, peer, 0, MPI_COMM_WORLD);
			}
		}
		if (rank == 1 && i == (long)(mix(seed) % 20000)) { // at a number, and at a moment
			struct itimerval at = {.it_value.tv_usec = 1 + mix(seed + 1) % 500};
			signal(SIGALRM, SIG_DFL);
			setitimer(ITIMER_REAL, &at, NULL);
		}
	}
	for (long i = 0; i < 1000; i++) {
		long got = -1;
		if (rank == 0)
			OK(MPI_Send(&i, 1, MPI_LONG, 2, 1, MPI_COMM_WORLD));
		OK(MPI_Recv(&got, 1, MPI_LONG, 2 - rank, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		if (rank == 2)
			OK(MPI_Send(&i, 1, MPI_LONG, 0, 1, MPI_COMM_WORLD));
		CHECK(got == i);
	}
	printf("rank %d survives\n", rank);
}

int main(int argc, char **argv)
{
	const char *kind = argv[1];
	int threads = strcmp(kind, "threads") == 0 ? THREADS : 1, provided;
	struct program p[THREADS] = {0};
	pthread_t thread[THREADS];
	MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
	lay();
	for (int i = 0; i < threads; i++) {
		MPI_Comm_rank(MPI_COMM_WORLD, &p[i].rank);
		MPI_Comm_size(MPI_COMM_WORLD, &p[i].size);
		p[i].seed = atol(argv[2]) * THREADS + i;
		p[i].forks = strcmp(kind, "forks") == 0;
	}
	if (strcmp(kind, "kill") == 0) {
		killed(p[0].rank, p[0].seed);
		return END;
	}
	if (strcmp(kind, "signals") == 0) {
		struct itimerval often = {{0, 300}, {0, 300}};
		struct sigaction a = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
		sigaction(SIGALRM, &a, NULL);
		setitimer(ITIMER_REAL, &often, NULL);
	}
	for (int i = 0; i < threads; i++)
		for (int c = 0; c < COMMS; c++) {
			if (c != 1)
				OK(MPI_Comm_dup(MPI_COMM_WORLD, &p[i].comms[c]));
			else
				OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -p[i].rank, &p[i].comms[c]));
		}
	if (threads == 1)
		p[0].comms[0] = MPI_COMM_WORLD;
	for (long k = 0; k < atol(argv[3]); k++) {
		for (int i = 1; i < threads; i++)
			pthread_create(&thread[i], NULL, run, &p[i]);
		run(&p[0]);
		for (int i = 1; i < threads; i++)
			pthread_join(thread[i], NULL);
		for (int i = 0; i < threads; i++) {
			printf("rank %d, program %lu: %d messages, sum %016lx\n", p[i].rank, (unsigned long)p[i].seed, p[i].messages, (unsigned long)p[i].sum);
			p[i].seed += threads;
		}
	}
	return END;
}
