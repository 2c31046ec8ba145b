/* One ping-pong between two ranks, replicated or not: pingpong DIR BYTES TURNS. Each replica of
   rank 0 says in DIR that it is ready, waits for the file "go" there, and writes down when it began and
   ended, in ns of CLOCK_MONOTONIC. The number of turns is given, not found by the clock: replicas
   must send the same. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static int rank, bytes;
static char *out, *in;

static void turns(long n)
{
	for (long i = 0; i < n; i++)
		if (rank == 0) {
			MPI_Send(out, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
			MPI_Recv(in, bytes, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		} else if (rank == 1) {
			MPI_Recv(in, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			MPI_Send(out, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
		}
	MPI_Barrier(MPI_COMM_WORLD);
}

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

/* note puts a line into a file of this process in DIR, all at once. */
static void note(const char *dir, const char *what, long long a, long long b)
{
	const char *process = getenv("PMI_RANK");
	char name[2][512];
	snprintf(name[0], sizeof name[0], "%s/new-%d", dir, (int)getpid());
	snprintf(name[1], sizeof name[1], "%s/%s-%s-%d", dir, what, process ? process : "0", (int)getpid());
	FILE *f = fopen(name[0], "w");
	if (f == NULL || fprintf(f, "%lld %lld\n", a, b) < 0 || fclose(f) != 0 || rename(name[0], name[1]) != 0)
		MPI_Abort(MPI_COMM_WORLD, 3);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc != 4) {
		fprintf(stderr, "usage: pingpong DIR BYTES TURNS\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	bytes = atoi(argv[2]);
	long n = atol(argv[3]);
	out = calloc(1, bytes ? bytes : 1);
	in = calloc(1, bytes ? bytes : 1);
	if (rank == 0) {
		char go[512];
		snprintf(go, sizeof go, "%s/go", argv[1]);
		note(argv[1], "ready", 0, 0);
		for (int i = 0; i < 30000 && access(go, F_OK) != 0; i++)
			usleep(1000);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	turns(n / 10);
	long long begin = now();
	turns(n);
	if (rank == 0)
		note(argv[1], "time", begin, now());
	MPI_Finalize();
	return 0;
}
