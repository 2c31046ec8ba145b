// Adds up a number of all ranks, argv[2] times, with a pause of a millisecond before each, and
// measures the time from one sum to the next. Each process writes files into the directory argv[1],
// which all hosts share: "at-…" after the first 500 sums, with its host, its number there and that
// of its parent, the agent; "gap-…" at the end, with its host and the longest time before the
// first file and after it, in nanoseconds. Rank 0 prints how many sums were right.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum { before = 500, pause_us = 1000 };

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// tell writes a file that others see whole or not at all.
static void tell(const char *dir, const char *kind, long long a, long long b)
{
	char host[256], text[256 + 64], hidden[4096], name[4096];
	gethostname(host, sizeof host);
	host[sizeof host - 1] = 0;
	snprintf(text, sizeof text, "%s %lld %lld\n", host, a, b);
	snprintf(hidden, sizeof hidden, "%s/.%s-%s-%d", dir, kind, host, (int)getpid());
	snprintf(name, sizeof name, "%s/%s-%s-%d", dir, kind, host, (int)getpid());
	FILE *f = fopen(hidden, "w");
	if (!f || fputs(text, f) < 0 || fclose(f) || rename(hidden, name)) {
		perror(name);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}

int main(int argc, char **argv)
{
	int rank, size, steps, right = 0;
	long long longest[2] = {0, 0}, last;
	MPI_Init(&argc, &argv);
	if (argc != 3 || (steps = atoi(argv[2])) <= before) {
		fprintf(stderr, "usage: failover DIR STEPS, with more than %d steps\n", before);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Barrier(MPI_COMM_WORLD);
	last = now();
	for (int i = 0; i < steps; i++) {
		int part = rank + i, sum;
		usleep(pause_us);
		MPI_Allreduce(&part, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		right += sum == size * i + size * (size - 1) / 2;
		long long at = now();
		if (at - last > longest[i >= before])
			longest[i >= before] = at - last;
		last = at;
		if (i == before - 1) {
			tell(argv[1], "at", getpid(), getppid());
			last = now(); // the file took time
		}
	}
	tell(argv[1], "gap", longest[0], longest[1]);
	if (rank == 0)
		printf("%d\n", right);
	MPI_Finalize();
	return 0;
}
