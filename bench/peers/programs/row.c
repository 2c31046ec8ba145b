/* One measurement of an MPI library: row KIND BYTES. Rank 0 prints the time of one
   operation in nanoseconds. Every library runs the same source, built by its own mpicc.
   With row KIND BYTES RANK DIR the operations of a rank are marked for who counts its
   instructions (package bench/instructions); with "ahead" at the end the rank's other replicas wait
   until these have been counted.

   The number of operations is found while running, so that the measured part takes
   long enough for the clock and never too long. Collectives are timed as loops with a
   barrier inside: a bare loop of broadcasts would time how far the root may run ahead.
   What is counted has no such barrier. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { window = 64 };
#ifndef ENOUGH
#define ENOUGH 0.15
#endif
static const double enough = ENOUGH; /* seconds that are measured */

static int rank, size, bytes;
static char *out, *in;
static MPI_Request requests[window];

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

/* A window of messages in one direction, and an answer. */
static void stream(void)
{
	char answer;
	if (rank == 0) {
		for (int i = 0; i < window; i++)
			MPI_Isend(out, bytes, MPI_BYTE, 1, 2, MPI_COMM_WORLD, &requests[i]);
		MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
		MPI_Recv(&answer, 1, MPI_BYTE, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	} else if (rank == 1) {
		for (int i = 0; i < window; i++)
			MPI_Irecv(in, bytes, MPI_BYTE, 0, 2, MPI_COMM_WORLD, &requests[i]);
		MPI_Waitall(window, requests, MPI_STATUSES_IGNORE);
		MPI_Send(&answer, 1, MPI_BYTE, 0, 3, MPI_COMM_WORLD);
	}
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

static void alltoall(void)
{
	MPI_Alltoall(out, bytes, MPI_BYTE, in, bytes, MPI_BYTE, MPI_COMM_WORLD);
}

static const struct kind {
	const char *name;
	void (*operate)(void);
	int per; /* messages or operations that one call counts for */
	int apart; /* a barrier follows each operation that is timed */
	int all; /* every rank needs its own block of the buffer */
} kinds[] = {
	{"latency", latency, 2, 0, 0},
	{"stream", stream, window, 0, 0},
	{"barrier", barrier, 1, 0, 0},
	{"bcast", broadcast, 1, 1, 0},
	{"allreduce", allreduce, 1, 1, 0},
	{"alltoall", alltoall, 1, 1, 1},
};

static double timed(const struct kind *k, long n)
{
	MPI_Barrier(MPI_COMM_WORLD);
	double start = MPI_Wtime();
	for (long i = 0; i < n; i++) {
		k->operate();
		if (k->apart)
			MPI_Barrier(MPI_COMM_WORLD);
	}
	double took = MPI_Wtime() - start;
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
	enum { warm = 300, operations = 12 };
	char name[512];
	int marked = 0;
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
}

int main(int argc, char **argv)
{
	const struct kind *k = NULL;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	for (size_t i = 0; (argc == 3 || argc == 5 || argc == 6) && i < sizeof kinds / sizeof *kinds; i++)
		if (strcmp(kinds[i].name, argv[1]) == 0)
			k = &kinds[i];
	if (k == NULL) {
		fprintf(stderr, "usage: row latency|stream|barrier|bcast|allreduce|alltoall BYTES [RANK DIR [ahead]]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	bytes = atoi(argv[2]);
	size_t room = (size_t)(bytes > 8 ? bytes : 8) * (k->all ? size : 1);
	out = malloc(room);
	in = malloc(room);
	memset(out, 0, room); /* 0.0, too */
	memset(in, 0, room);

	if (argc >= 5) {
		counted(k, atoi(argv[3]), argv[4], argc == 6);
		MPI_Finalize();
		return 0;
	}
	long n = 1;
	double took;
	while ((took = timed(k, n)) < enough / 8 && n < 1L << 30)
		n *= 2;
	n = (long)(n * enough / took) + 1;
	took = timed(k, n);
	if (rank == 0)
		printf("%.2f\n", took * 1e9 / n / k->per);
	MPI_Finalize();
	return 0;
}
