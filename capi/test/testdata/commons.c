// commons KIND SEED ROUNDS makes random small collectives, the same whatever way they take, and prints
// a sum over all that was received. KIND is plain, threads (several such programs at the same time,
// each with communicators of its own), signals (a timer interrupts it) or kill: ranks are killed, and
// the others print which broadcasts they haven't got.
#include <mpi.h>

#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>

#include "check.h"

enum { THREADS = 3, LARGEST = 700, RANKS = 16 };

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

struct program {
	MPI_Comm comms[2];
	uint64_t seed, sum;
	long rounds, failed;
	int rank, size;
};

static void add(struct program *p, const void *data, size_t bytes)
{
	const unsigned char *b = data;
	for (size_t i = 0; i < bytes; i++)
		p->sum = p->sum * 0x100000001b3 ^ b[i];
}

static const struct {
	MPI_Datatype type;
	int bytes;
} types[] = {{MPI_DOUBLE, 8}, {MPI_INT, 4}, {MPI_FLOAT, 4}, {MPI_LONG, 8}, {MPI_UNSIGNED, 4}, {MPI_UINT64_T, 8}, {MPI_SHORT, 2}};

// number is an element that a rank gives. Some reals are zeros and infinities, of both signs, and NaNs.
static void number(char *to, int type, uint64_t r)
{
	static const double odd[] = {0, -0.0, INFINITY, -INFINITY, NAN, 1, -1, 1e300};
	double d = r % 4 == 0 ? odd[r / 4 % 8] : (double)(int64_t)mix(r) * 1e-3;
	float f = (float)d;
	uint64_t i = mix(r) >> (r % 3 * 20);
	memcpy(to, types[type].type == MPI_DOUBLE ? (void *)&d : types[type].type == MPI_FLOAT ? (void *)&f : (void *)&i, types[type].bytes);
}

// fill writes what a rank gives in a round.
static int fill(const struct program *p, char *to, int type, int count, long round, int rank)
{
	for (int i = 0; i < count; i++)
		number(to + i * types[type].bytes, type, mix(p->seed << 40 ^ round << 12 ^ rank << 6 ^ i % 64) + i);
	return count * types[type].bytes;
}

// once makes one collective, and returns MPI's answer.
static int once(struct program *p, long k)
{
	uint64_t r = mix(p->seed * 1000003 + k);
	MPI_Comm comm = p->comms[r % 2];
	int rank, n = p->size, kind = (r >> 8) % 8, type = (r >> 16) % 7, root = (r >> 24) % n;
	int count = (int[]){0, 1, 1, 1, 2, 3, 6, 7, 12, 13, 60}[(r >> 32) % 11];
	MPI_Op op = (MPI_Op[]){MPI_SUM, MPI_SUM, MPI_MIN, MPI_MAX, MPI_PROD}[(r >> 40) % 5];
	char in[LARGEST * RANKS] = {0}, out[LARGEST * RANKS] = {0};
	MPI_Comm_rank(comm, &rank);
	if (mix(r ^ rank) % 200 == 0)
		usleep(mix(r) % 2000); // the others wait, some asleep
	MPI_Datatype t = types[type].type;
	int bytes = fill(p, out, type, count, k, rank), code;
	switch (kind) {
	case 0:
		return MPI_Barrier(comm);
	case 1:
	case 2:
		if ((code = MPI_Bcast(out, count, t, root, comm)) == MPI_SUCCESS)
			add(p, out, bytes);
		return code;
	case 3:
		if ((code = MPI_Allgather(out, count, t, in, count, t, comm)) == MPI_SUCCESS)
			add(p, in, bytes * n);
		return code;
	case 4:
		for (int i = 0; i < n; i++)
			fill(p, out + i * bytes, type, count, k + i, rank);
		if ((code = MPI_Alltoall(out, count, t, in, bytes, MPI_BYTE, comm)) == MPI_SUCCESS)
			add(p, in, bytes * n);
		return code;
	case 5:
		if ((code = MPI_Reduce(out, in, count, t, op, root, comm)) == MPI_SUCCESS && rank == root)
			add(p, in, bytes);
		return code;
	case 6:
		if ((code = MPI_Allreduce(MPI_IN_PLACE, out, count, t, op, comm)) == MPI_SUCCESS)
			add(p, out, bytes);
		return code;
	default:
		if ((code = MPI_Allreduce(out, in, count, t, op, comm)) == MPI_SUCCESS)
			add(p, in, bytes);
		return code;
	}
}

static void *run(void *arg)
{
	struct program *p = arg;
	for (long k = 0; k < p->rounds; k++) {
		MPI_Request request;
		long mine = k, got = -1;
		int pending = mix(p->seed ^ k) % 16 == 0; // Go has a request under way meanwhile
		if (pending) {
			OK(MPI_Irecv(&got, 1, MPI_LONG, MPI_ANY_SOURCE, (int)(k % 1000), p->comms[0], &request));
			int rank;
			MPI_Comm_rank(p->comms[0], &rank);
			OK(MPI_Send(&mine, 1, MPI_LONG, (rank + 1) % p->size, (int)(k % 1000), p->comms[0]));
		}
		OK(once(p, k));
		if (pending) {
			OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
			CHECK(got == k);
		}
	}
	return NULL;
}

static volatile sig_atomic_t interrupts;
static void interrupt(int signal) { interrupts++; }

// killed: some ranks are killed at some moment, not all. A broadcast's root may be dead; then all that
// live have got the data, or none.
static void killed(struct program *p)
{
	int spared = mix(p->seed) % p->size;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	for (int i = 0; i < 100; i++)
		OK(MPI_Barrier(MPI_COMM_WORLD));
	long death = p->rank != spared && mix(p->seed + p->rank + 1) % 3 == 0 ? (long)(mix(p->seed + 99 + p->rank) % p->rounds) : p->rounds;
	setvbuf(stdout, NULL, _IOFBF, 1 << 20); // a rank that is killed prints nothing
	printf("rank %d misses", p->rank);
	for (long k = 0; k < p->rounds; k++) {
		if (k == death) {
			struct itimerval at = {.it_value.tv_usec = 1 + mix(p->seed + 1 + p->rank) % 300};
			signal(SIGALRM, SIG_DFL);
			setitimer(ITIMER_REAL, &at, NULL);
		}
		uint64_t r = mix(p->seed * 77 + k);
		int root = r % p->size;
		if (r >> 8 & 1) {
			MPI_Barrier(MPI_COMM_WORLD);
			continue;
		}
		long data = p->rank == root ? k : -1;
		if (MPI_Bcast(&data, 1, MPI_LONG, root, MPI_COMM_WORLD) != MPI_SUCCESS)
			printf(" %ld", k);
		else
			CHECK(data == k);
	}
	printf("\n");
	if (death < p->rounds)
		for (;;)
			pause(); // it is killed any moment
}

int main(int argc, char **argv)
{
	const char *kind = argv[1];
	int threads = strcmp(kind, "threads") == 0 ? THREADS : 1, provided;
	struct program p[THREADS] = {0};
	pthread_t thread[THREADS];
	MPI_Init_thread(&argc, &argv, threads > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &provided);
	for (int i = 0; i < threads; i++) {
		MPI_Comm_rank(MPI_COMM_WORLD, &p[i].rank);
		MPI_Comm_size(MPI_COMM_WORLD, &p[i].size);
		p[i].seed = atol(argv[2]) * THREADS + i;
		p[i].rounds = atol(argv[3]);
	}
	if (strcmp(kind, "kill") == 0) {
		killed(&p[0]);
		return END;
	}
	if (strcmp(kind, "signals") == 0) {
		struct itimerval often = {{0, 300}, {0, 300}};
		struct sigaction a = {.sa_handler = interrupt, .sa_flags = SA_RESTART};
		sigaction(SIGALRM, &a, NULL);
		setitimer(ITIMER_REAL, &often, NULL);
	}
	for (int i = 0; i < threads; i++) {
		OK(MPI_Comm_dup(MPI_COMM_WORLD, &p[i].comms[0]));
		OK(MPI_Comm_split(MPI_COMM_WORLD, 0, -p[i].rank, &p[i].comms[1]));
	}
	for (int i = 1; i < threads; i++)
		pthread_create(&thread[i], NULL, run, &p[i]);
	run(&p[0]);
	for (int i = 1; i < threads; i++)
		pthread_join(thread[i], NULL);
	for (int i = 0; i < threads; i++) {
		OK(MPI_Comm_free(&p[i].comms[0]));
		OK(MPI_Comm_free(&p[i].comms[1]));
		printf("rank %d, program %lu: sum %016lx\n", p[i].rank, (unsigned long)p[i].seed, (unsigned long)p[i].sum);
	}
	return END;
}
