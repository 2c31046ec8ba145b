/* One measurement of an MPI library: row KIND BYTES. Rank 0 prints the time of one
   operation in nanoseconds. Every library runs the same source, built by its own mpicc.
   BYTES are those of data: the gaps of a type don't count. The kinds are in the table below.
   With row KIND BYTES RANK DIR the operations of a rank are marked for who counts its
   instructions (package bench/instructions); with "ahead" at the end the rank's other replicas wait
   until these have been counted.

   The number of operations is found while running, so that the measured part takes
   long enough for the clock and never too long. Some hundred go before, or as many as fit
   into that time: the first ones make connections and memory. Collectives are timed as loops with a
   barrier inside: a bare loop of broadcasts would time how far the root may run ahead.
   What is counted has no such barrier. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
	window = 64,
	depth = 1000, /* receives or messages that stand in the queues meanwhile */
	threads = 4, /* at most */
	warm = 300, /* operations before those that are measured */
};
#ifndef ENOUGH
#define ENOUGH 0.15
#endif
static const double enough = ENOUGH; /* seconds that are measured */

static int rank, size, bytes;
static char *out, *in;
static MPI_Request requests[window];
static MPI_Datatype type = MPI_BYTE; /* count of them have bytes of data */
static int count;

static void latency(void)
{
	if (rank == 0) {
		MPI_Send(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
		MPI_Recv(in, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (rank == 1) {
		MPI_Recv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
	}
}

/* The same of a type. */
static void pingpong(char *to, char *from, int tag)
{
	if (rank == 0) {
		MPI_Send(to, count, type, 1, tag, MPI_COMM_WORLD);
		MPI_Recv(from, count, type, 1, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (rank == 1) {
		MPI_Recv(from, count, type, 0, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(to, count, type, 0, tag, MPI_COMM_WORLD);
	}
}

static void typed(void) { pingpong(out, in, 1); }

/* The sender has written each line of its buffer since the last message, as programs do. Its time
   counts. */
enum { line = 64 };

static void produce(char *buffer)
{
	static char value;
	value++;
	for (int i = 0; i < bytes; i += line)
		buffer[i] = value;
}

static void written(void)
{
	if (rank < 2)
		produce(out);
	latency();
}

/* The same for a stream, in which each message has a buffer of its own. */
static void writtenStream(void)
{
	char answer;
	if (rank == 0) {
		for (int i = 0; i < window; i++) {
			produce(out + (size_t)i * bytes);
			MPI_Isend(out + (size_t)i * bytes, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[i]);
		}
		MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
		MPI_Recv(&answer, 1, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (rank == 1) {
		for (int i = 0; i < window; i++)
			MPI_Irecv(in + (size_t)i * bytes, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[i]);
		MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
		MPI_Send(&answer, 1, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
	}
}

/* A window of messages in one direction, and an answer. */
static void stream(void)
{
	char answer;
	if (rank == 0) {
		for (int i = 0; i < window; i++)
			MPI_Isend(out, count, type, 1, 2, MPI_COMM_WORLD, &requests[i]);
		MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
		MPI_Recv(&answer, 1, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (rank == 1) {
		for (int i = 0; i < window; i++)
			MPI_Irecv(in, count, type, 0, 2, MPI_COMM_WORLD, &requests[i]);
		MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
		MPI_Send(&answer, 1, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
	}
}

/* Messages without an answer. The receiver always has a window of receives posted: when the oldest
   ends it posts another. The sender does the same with its sends. */
static void start(int i)
{
	if (rank == 0)
		MPI_Isend(out, count, type, 1, 2, MPI_COMM_WORLD, &requests[i]);
	else if (rank == 1)
		MPI_Irecv(in, count, type, 0, 2, MPI_COMM_WORLD, &requests[i]);
}

static void fill(void)
{
	for (int i = 0; i < window; i++) {
		requests[i] = MPI_REQUEST_NULL;
		start(i);
	}
}

static void rate(void)
{
	for (int i = 0; i < window; i++) {
		MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
		start(i);
	}
}

static void drain(void) { MPI_Waitall(window, requests, MPI_STATUSES_IGNORE); }

/* Ranks 0 and 1 have receives posted, or messages that wait for a receive. All have other tags than
   the ping-pong beside them. */
static char waiting[depth][8];
static MPI_Request posted[depth];

static void post(void)
{
	for (int i = 0; i < depth && rank < 2; i++)
		MPI_Irecv(waiting[i], 8, MPI_BYTE, 1 - rank, 100 + i, MPI_COMM_WORLD, &posted[i]);
}

static void send(void)
{
	for (int i = 0; i < depth && rank < 2; i++)
		MPI_Send(waiting[i], 8, MPI_BYTE, 1 - rank, 100 + i, MPI_COMM_WORLD);
	MPI_Barrier(MPI_COMM_WORLD);
}

static void sendPosted(void)
{
	send();
	if (rank < 2)
		MPI_Waitall(depth, posted, MPI_STATUSES_IGNORE);
}

static void receive(void)
{
	for (int i = 0; i < depth && rank < 2; i++)
		MPI_Recv(waiting[i], 8, MPI_BYTE, 1 - rank, 100 + i, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

/* Every thread has a ping-pong of its own with a thread of the other process. */
struct thread {
	pthread_t id;
	int tag;
	long n;
	char *out, *in;
};

static void *pingpongs(void *argument)
{
	struct thread *t = argument;
	for (long i = 0; i < t->n; i++)
		pingpong(t->out, t->in, t->tag);
	return NULL;
}

static void team(int size, long n)
{
	struct thread team[threads];
	for (int i = 0; i < size; i++) {
		team[i] = (struct thread){.tag = i, .n = n, .out = out + i * (size_t)bytes, .in = in + i * (size_t)bytes};
		if (pthread_create(&team[i].id, NULL, pingpongs, &team[i]) != 0)
			MPI_Abort(MPI_COMM_WORLD, 1);
	}
	for (int i = 0; i < size; i++)
		pthread_join(team[i].id, NULL);
}

/* A column of a matrix of four. */
static void vector(void)
{
	MPI_Type_vector(bytes / 8, 1, 4, MPI_DOUBLE, &type);
	MPI_Type_commit(&type);
	count = 1;
}

/* Blocks of one, two and three numbers, with one to four between them. */
static void indexed(void)
{
	int blocks = bytes / 8, *lengths = malloc(blocks * sizeof *lengths), *at = malloc(blocks * sizeof *at);
	int n = 0;
	for (int left = bytes / 8, next = 0; left > 0; n++) {
		lengths[n] = n % 3 < left ? n % 3 + 1 : left;
		at[n] = next;
		next += lengths[n] + n % 4 + 1;
		left -= lengths[n];
	}
	MPI_Type_indexed(n, lengths, at, MPI_DOUBLE, &type);
	MPI_Type_commit(&type);
	free(lengths);
	free(at);
	count = 1;
}

/* An array of structs, whose padding isn't sent. */
static void structs(void)
{
	struct particle {
		int number; /* and four bytes of nothing */
		double place;
		float weight; /* and four */
	} p;
	int lengths[] = {1, 1, 1};
	MPI_Aint at[] = {0, (char *)&p.place - (char *)&p, (char *)&p.weight - (char *)&p};
	MPI_Datatype fields[] = {MPI_INT, MPI_DOUBLE, MPI_FLOAT}, one;
	MPI_Type_create_struct(3, lengths, at, fields, &one);
	MPI_Type_create_resized(one, 0, sizeof p, &type);
	MPI_Type_commit(&type);
	MPI_Type_free(&one);
	count = bytes / 16;
}

static void barrier(void) { MPI_Barrier(MPI_COMM_WORLD); }

static void broadcast(void)
{
	MPI_Bcast(in, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
}

static void allreduce(void)
{
	MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

/* An allreduce that survives deaths, where the library knows the hint. */
static MPI_Comm survivors = MPI_COMM_NULL;

static void survive(void)
{
	MPI_Info info;
	if (survivors != MPI_COMM_NULL)
		return;
	MPI_Info_create(&info);
	MPI_Info_set(info, "banyan_resilient", "true");
	MPI_Comm_dup(MPI_COMM_WORLD, &survivors);
	MPI_Comm_set_info(survivors, info);
	MPI_Info_free(&info);
}

static void resilient(void)
{
	MPI_Allreduce(out, in, bytes / 8, MPI_DOUBLE, MPI_SUM, survivors);
}

// Libraries without fault tolerance lack it; nobody asks for it there.
int MPIX_Comm_agree(MPI_Comm comm, int *flag) __attribute__((weak));

static void agree(void)
{
	int flag = 1;
	MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
}

static void alltoall(void)
{
	MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

#include "onesided.h"

static const struct kind {
	const char *name;
	void (*operate)(void);
	int per; /* messages or operations that one call counts for */
	int apart; /* a barrier follows each operation that is timed */
	int all; /* every rank needs its own block of the buffer */
	int each; /* every message of a window does */
	void (*make)(void); /* makes the type, if it isn't bytes */
	void (*before)(void), (*after)(void); /* the operations, outside of what is timed */
	int threads; /* each does the operations */
} kinds[] = {
	{"latency", latency, 2},
	{"stream", stream, window},
	{"written", written, 2},
	{"written-stream", writtenStream, window, .each = 1},
	{"barrier", barrier, 1},
	{"agree", agree, 1},
	{"bcast", broadcast, 1, .apart = 1},
	{"allreduce", allreduce, 1, .apart = 1},
	{"alltoall", alltoall, 1, .apart = 1, .all = 1},
	{"resilient", resilient, 1, .apart = 1, .before = survive},
	{"vector", typed, 2, .make = vector},
	{"vector-stream", stream, window, .make = vector},
	{"indexed", typed, 2, .make = indexed},
	{"indexed-stream", stream, window, .make = indexed},
	{"struct", typed, 2, .make = structs},
	{"struct-stream", stream, window, .make = structs},
	{"rate", rate, window, .before = fill, .after = drain},
	{"posted", latency, 2, .before = post, .after = sendPosted},
	{"unexpected", latency, 2, .before = send, .after = receive},
	{"put", put, 1, .before = allocated},
	{"put-stream", burst, window, .before = allocated},
	{"put-created", put, 1, .before = brought},
	{"get", get, 1, .before = allocated},
	{"get-created", get, 1, .before = brought},
	{"accumulate", accumulate, 1, .before = allocated},
	{"accumulate-created", accumulate, 1, .before = brought},
	{"fetch", fetch, 1, .before = allocated},
	{"fetch-created", fetch, 1, .before = brought},
	{"lock", lock, 1, .before = unlocked},
	{"lock-exclusive", alone, 1, .before = unlocked},
	{"lock-all", everyone, 1, .before = unlocked},
	{"lock-contended", contend, 1, .before = unlocked},
	{"start", pair, 2, .before = paired},
	{"fence", fence, 1, .before = unlocked, .after = lastFence},
	{"threads-2", NULL, 2 * 2, .threads = 2},
	{"threads-4", NULL, 2 * 4, .threads = 4},
};

static void loop(const struct kind *k, long n)
{
	for (long i = 0; i < n; i++) {
		k->operate();
		if (k->apart)
			MPI_Barrier(MPI_COMM_WORLD);
	}
}

static double timed(const struct kind *k, long n)
{
	if (k->before)
		k->before();
	MPI_Barrier(MPI_COMM_WORLD);
	double start = MPI_Wtime();
	if (k->threads)
		team(k->threads, n);
	else
		loop(k, n);
	double took = MPI_Wtime() - start;
	if (k->after)
		k->after();
	MPI_Bcast(&took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD); /* so that all agree on what comes next */
	return took;
}

/* traced tells whether a debugger follows this thread. */
static int traced(void)
{
	char line[128];
	int tracer = 0;
	FILE *f = fopen("/proc/self/status", "r");
	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (sscanf(line, "TracerPid: %d", &tracer) == 1)
			break;
	if (f != NULL)
		fclose(f);
	return tracer != 0;
}

static __attribute__((noinline)) void mark(int marked)
{
	if (marked)
		__asm__ volatile("int3");
}

/* Each process of the rank puts its number into DIR and waits for the file "go". By then
   one of them is traced, and stops at a mark between any two operations, the first of which
   isn't counted. Ahead: the others of them wait for the file "done" in front of the first mark. */
static void counted(const struct kind *k, int of, const char *dir, int ahead)
{
	enum { operations = 12 };
	char name[512];
	int marked = 0;
	if (k->before)
		k->before();
	for (int i = 0; i < warm; i++)
		k->operate();
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == of) {
		prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0); /* where that needs permission */
		snprintf(name, sizeof name, "%s/%d", dir, (int)getpid());
		fclose(fopen(name, "w"));
		snprintf(name, sizeof name, "%s/go", dir);
		for (int i = 0; i < 30000 && access(name, F_OK) != 0; i++)
			usleep(1000);
		marked = traced();
	}
	MPI_Barrier(MPI_COMM_WORLD);
	for (int i = 0; i < warm; i++)
		k->operate();
	snprintf(name, sizeof name, "%s/done", dir);
	for (int i = 0; ahead && rank == of && !marked && i < 30000 && access(name, F_OK) != 0; i++)
		usleep(1000);
	mark(marked);
	for (int i = 0; i < operations + 1; i++) {
		k->operate();
		mark(marked);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	if (k->after)
		k->after();
}

int main(int argc, char **argv)
{
	const struct kind *k = NULL;
	for (size_t i = 0; (argc == 3 || argc == 5 || argc == 6) && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kinds[i].name, argv[1]) == 0)
			k = &kinds[i];
	int wanted = k != NULL && k->threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, level = wanted;
	if (wanted == MPI_THREAD_SINGLE)
		MPI_Init(&argc, &argv);
	else
		MPI_Init_thread(&argc, &argv, wanted, &level);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (k == NULL || (argc > 3 && k->operate == NULL)) {
		fprintf(stderr, "usage: row KIND BYTES [RANK DIR [ahead]]; there are");
		for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
			fprintf(stderr, " %s", kinds[i].name);
		fprintf(stderr, "; those of threads can't be counted\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	if (level < wanted) {
		fprintf(stderr, "row: the library has no MPI_THREAD_MULTIPLE\n");
		MPI_Abort(MPI_COMM_WORLD, 3);
	}
	count = bytes = atoi(argv[2]);
	if (k->make)
		k->make();
	/* Room for the gaps of the types, for each rank's block and for each thread's. */
	size_t room = (size_t)(bytes > 8 ? bytes : 8) * (k->make ? 4 : 1) * (k->all ? size : 1) * (k->each ? window : 1) * (k->threads ? k->threads : 1);
	out = malloc(room);
	in = malloc(room);
	__asm__("" : "+r"(out), "+r"(in)); /* else these are callocs to the compiler, and have no pages yet */
	memset(out, 0, room); /* 0.0, too */
	memset(in, 0, room);

	if (argc >= 5) {
		counted(k, atoi(argv[3]), argv[4], argc == 6);
		forget();
		MPI_Finalize();
		return 0;
	}
	long n = 1, done = 1;
	double took = timed(k, n), spent = took;
	while ((took < enough / 8 || (done < warm && spent < enough)) && n < 1L << 30) {
		if (took < enough / 8)
			n *= 2;
		took = timed(k, n);
		spent += took;
		done += n;
	}
	n = (long)(n * enough / took) + 1;
	took = timed(k, n);
	if (rank == 0)
		printf("%.2f\n", took * 1e9 / n / k->per);
	forget();
	MPI_Finalize();
	return 0;
}
