// Tells how long a job takes to start, and what memory its processes take. Its argument is
// when it was started, in nanoseconds since 1970. Rank 0 prints eight numbers: the nanoseconds
// from then until every rank is in main, past MPI_Init, and past a barrier; the nanoseconds of
// processor time that a rank has taken by then, mean of the ranks; and their mean resident and
// proportional size in bytes.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// idle is for how many microseconds the ranks do nothing before they are looked at.
enum { idle = 300000 };

static double bytes(const char *name)
{
	char line[256];
	long kib = -1;
	FILE *f = fopen("/proc/self/smaps_rollup", "r");
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, name, strlen(name)))
			kib = atol(line + strlen(name));
	if (!f || kib < 0) {
		fprintf(stderr, "/proc/self/smaps_rollup tells no %s\n", name);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
	fclose(f);
	return kib * 1024.0;
}

static double since(double begin)
{
	struct timespec now;
	clock_gettime(CLOCK_REALTIME, &now);
	return now.tv_sec * 1e9 + now.tv_nsec - begin;
}

static double taken(void)
{
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	int rank, size;
	double begin = argc > 1 ? atof(argv[1]) : 0, at[3], last[3], own[5], sum[5];
	at[0] = since(begin);
	own[0] = taken();
	MPI_Init(&argc, &argv);
	at[1] = since(begin);
	own[1] = taken();
	MPI_Barrier(MPI_COMM_WORLD);
	at[2] = since(begin);
	own[2] = taken();
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	usleep(idle);
	own[3] = bytes("Rss:");
	own[4] = bytes("Pss:");
	MPI_Reduce(at, last, 3, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
	MPI_Reduce(own, sum, 5, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%.0f %.0f %.0f %.0f %.0f %.0f %.0f %.0f\n", last[0], last[1], last[2],
		       sum[0] / size, sum[1] / size, sum[2] / size, sum[3] / size, sum[4] / size);
	MPI_Finalize();
	return 0;
}
