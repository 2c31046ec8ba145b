/* bcast BYTES COUNT LIMIT_MS [DEAD…] times MPI_Bcast of rank 0, COUNT times. The latency of one is
   from rank 0's call to the last return at a live rank, by the clock that all processes of a
   machine share. The DEAD ranks are stopped meanwhile (SIGSTOP): to the others they look dead, and
   nobody is told. A broadcast that hasn't reached all live ranks after LIMIT_MS is missed: the
   stopped ranks go on then, until all have it.

   Rank 0 prints the median in nanoseconds of those that weren't missed (0 if all were), and how
   many were missed. */
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1e9 + t.tv_nsec;
}

static void nap(double ms)
{
	struct timespec t = { ms / 1e3, (long)(ms * 1e6) % 1000000000L };
	nanosleep(&t, NULL);
}

static int stopped(int pid)
{
	char path[64], line[512];
	snprintf(path, sizeof path, "/proc/%d/stat", pid);
	FILE *f = fopen(path, "r");
	if (!f)
		return 1;
	size_t n = fread(line, 1, sizeof line - 1, f);
	fclose(f);
	line[n] = 0;
	char *p = strrchr(line, ')');
	return p && p[1] && (p[2] == 'T' || p[2] == 't');
}

/* all sends a signal to the dead ranks and waits until it has its effect. */
static void all(int signal, const int *dead, const int *pids, int size)
{
	for (int r = 0; r < size; r++)
		if (dead[r])
			kill(pids[r], signal);
	for (int r = 0; r < size; r++)
		for (int tries = 0; dead[r] && signal == SIGSTOP && !stopped(pids[r]) && tries < 5000; tries++)
			nap(1);
}

/* late is the alarm of a broadcast that is missed. It lets the stopped ranks go on: even the
   root's call may wait for them. */
static const int *the_dead, *the_pids;
static int ranks;
static volatile sig_atomic_t was_late;

static void late(int signal)
{
	(void)signal;
	was_late = 1;
	for (int r = 0; r < ranks; r++)
		if (the_dead[r])
			kill(the_pids[r], SIGCONT);
}

static void alarm_in(double ms)
{
	struct itimerval t = { { 0, 0 }, { ms / 1e3, (long)(ms * 1e3) % 1000000 } };
	setitimer(ITIMER_REAL, &t, NULL);
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	int rank, size;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc < 4) {
		fprintf(stderr, "usage: bcast BYTES COUNT LIMIT_MS [DEAD...]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	int bytes = atoi(argv[1]), count = atoi(argv[2]), missed = 0;
	double limit = atof(argv[3]);
	int *dead = calloc(size, sizeof *dead), *pids = calloc(size, sizeof *pids);
	for (int i = 4; i < argc; i++)
		dead[atoi(argv[i])] = 1;
	int pid = getpid();
	MPI_Allgather(&pid, 1, MPI_INT, pids, 1, MPI_INT, MPI_COMM_WORLD);
	MPI_Comm live;
	MPI_Comm_split(MPI_COMM_WORLD, dead[rank], rank, &live);

	the_dead = dead, the_pids = pids, ranks = size;
	struct sigaction action = { .sa_handler = late, .sa_flags = SA_ONSTACK | SA_RESTART };
	sigaction(SIGALRM, &action, NULL);

	char *data = malloc(bytes + 1);
	for (int i = 0; i < 8; i++) { /* warm up */
		MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
		MPI_Barrier(live);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	double *begin = calloc(count, sizeof *begin), *end = calloc(count, sizeof *end), *last = calloc(count, sizeof *last);
	for (int i = 0; i < count; i++) {
		memset(data, rank == 0 ? i + 1 : 0, bytes);
		if (!dead[rank]) {
			if (rank == 0)
				all(SIGSTOP, dead, pids, size);
			MPI_Barrier(live);
			if (rank == 0 && argc > 4)
				alarm_in(limit);
			begin[i] = now();
		}
		MPI_Bcast(data, bytes, MPI_BYTE, 0, MPI_COMM_WORLD);
		end[i] = now();
		if (bytes > 0 && (data[0] != (char)(i + 1) || data[bytes - 1] != (char)(i + 1))) {
			fprintf(stderr, "rank %d: wrong data\n", rank);
			MPI_Abort(MPI_COMM_WORLD, 1);
		}
		if (dead[rank])
			continue;
		MPI_Barrier(live);
		if (rank == 0 && argc > 4) {
			alarm_in(0);
			if (was_late) {
				begin[i] = 0;
				missed++;
			}
			was_late = 0;
		}
	}
	if (!dead[rank]) {
		if (rank == 0)
			all(SIGCONT, dead, pids, size);
		MPI_Reduce(end, last, count, MPI_DOUBLE, MPI_MAX, 0, live);
	}
	if (rank == 0) {
		int n = 0;
		for (int i = 0; i < count; i++)
			if (begin[i] > 0)
				last[n++] = last[i] - begin[i];
		qsort(last, n, sizeof *last, ascending);
		printf("%.0f %d\n", n > 0 ? last[n / 2] : 0, missed);
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Finalize();
	return 0;
}
