// A program whose state is large. Arguments: MiB of state of each rank, how much of a hundred of its
// pages a step changes, and for how many seconds it runs.
//
// Each page has a number of its own that no step changes, so that no two are alike, and how often it
// was changed. At the end each rank compares both with what they should be.
#include <mpi.h>
#include <mpi-ext.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { words = 512 }; // of a page of 4 KiB

static double now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec + t.tv_nsec * 1e-9;
}

// Some bits that depend on a number, and look like any others.
static uint64_t mixed(uint64_t x)
{
	x ^= x >> 30, x *= 0xbf58476d1ce4e5b9u;
	x ^= x >> 27, x *= 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	int rank;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (argc != 4)
		MPI_Abort(MPI_COMM_WORLD, 2);
	long pages = atol(argv[1]) * 256;
	int percent = atoi(argv[2]);
	double until = now() + atof(argv[3]);
	uint64_t *state = malloc(pages * words * sizeof *state);
	if (state == NULL)
		MPI_Abort(MPI_COMM_WORLD, 3);
	for (long i = 0; i < pages * words; i++)
		state[i] = mixed(i + 1);
	for (long p = 0; p < pages; p++)
		state[p * words] = 0;
	long steps = 0;
	MPIX_State_register("steps", &steps, 1, MPI_LONG);
	MPIX_State_register("state", state, (int)(pages * words), MPI_UINT64_T);
	for (int on = 1; on; steps++) {
		MPIX_Safepoint(NULL);
		for (long p = 0; p < pages; p++)
			if (p % 100 < percent)
				state[p * words]++;
		on = now() < until;
		MPI_Bcast(&on, 1, MPI_INT, 0, MPI_COMM_WORLD);
		nanosleep(&(struct timespec){0, 5000000}, NULL);
	}
	for (long p = 0; p < pages; p++) {
		long want = p % 100 < percent ? steps : 0;
		if (state[p * words] != (uint64_t)want || state[p * words + 1] != mixed(p * words + 2)) {
			fprintf(stderr, "rank %d: page %ld was changed %llu times, not %ld\n", rank, p, (unsigned long long)state[p * words], want);
			MPI_Abort(MPI_COMM_WORLD, 4);
		}
	}
	if (rank == 0)
		printf("%ld steps\n", steps);
	MPI_Finalize();
	return 0;
}
