/* heat computes the temperatures of a plate that is heated along one edge, by Jacobi's method.
   Build it with any mpicc (another one than Banyan's needs a copy of mpi-ext.h):

     mpicc -O2 -o heat heat.c -lm
     mpiexec -n 4 ./heat 200
     banyan run -n 4 --replicas 2 --fault 'kill rank=1 at=200ms' ./heat 200

   The three calls that begin with MPIX let dead replicas be replaced while it runs:

     banyan run -n 4 --replicas 2 --heal \
       --fault 'kill rank=1 replica=0 at=200ms; kill rank=1 replica=1 at=2s' ./heat 1000

   heat N [TOLERANCE [STEPS]] takes a plate of N × N points and divides it by rows. The last line
   has the result to the bit. It is the same for any number of ranks, whichever processes die. */
#include <math.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

#include "mpi-ext.h"

static int rank, size, n;
static int rows;               /* how many rows of the plate this rank has */
static double *now, *next;     /* (rows + 2) × n: these rows between a row of each neighbour */

static double *row(double *plate, int i) { return plate + (size_t)i * n; }

/* The number of a rank's rows. If they don't divide evenly, the first ranks have one more. */
static int share(int r) { return n / size + (r < n % size); }

/* Sends the neighbours our outer rows, and receives theirs. */
static void exchange(void)
{
	int above = rank > 0 ? rank - 1 : MPI_PROC_NULL;
	int below = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;
	MPI_Request requests[4];
	MPI_Irecv(row(now, 0), n, MPI_DOUBLE, above, 0, MPI_COMM_WORLD, &requests[0]);
	MPI_Irecv(row(now, rows + 1), n, MPI_DOUBLE, below, 1, MPI_COMM_WORLD, &requests[1]);
	MPI_Isend(row(now, rows), n, MPI_DOUBLE, below, 0, MPI_COMM_WORLD, &requests[2]);
	MPI_Isend(row(now, 1), n, MPI_DOUBLE, above, 1, MPI_COMM_WORLD, &requests[3]);
	MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

/* One step; returns the largest change of a point here. */
static double step(void)
{
	double most = 0;
	for (int i = 1; i <= rows; i++) {
		const double *up = row(now, i - 1), *here = row(now, i), *down = row(now, i + 1);
		double *to = row(next, i);
		to[0] = here[0], to[n - 1] = here[n - 1];
		for (int j = 1; j < n - 1; j++) {
			to[j] = 0.25 * (up[j] + down[j] + here[j - 1] + here[j + 1]);
			most = fmax(most, fabs(to[j] - here[j]));
		}
	}
	double *plate = now;
	now = next, next = plate;
	return most;
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	n = argc > 1 ? atoi(argv[1]) : 100;
	double tolerance = argc > 2 ? atof(argv[2]) : 1e-5;
	int limit = argc > 3 ? atoi(argv[3]) : 1000000;
	if (n < 3 || n < size || !(tolerance > 0) || limit < 1) {
		if (rank == 0)
			fprintf(stderr, "usage: heat N [TOLERANCE [STEPS]]: at least 3 points a side, and one for each of %d ranks\n", size);
		MPI_Abort(MPI_COMM_WORLD, 2);
	}

	rows = share(rank);
	now = calloc((size_t)(rows + 2) * n, sizeof *now);
	next = calloc((size_t)(rows + 2) * n, sizeof *next);
	if (now == NULL || next == NULL)
		MPI_Abort(MPI_COMM_WORLD, 1);
	if (rank == 0) /* the heater is beyond the first row */
		for (int j = 0; j < n; j++)
			row(now, 0)[j] = row(next, 0)[j] = 1;

	double change = 1;
	int steps = 0;
	MPIX_State_register("steps", &steps, 1, MPI_INT);
	MPIX_State_register("plate", now, (rows + 2) * n, MPI_DOUBLE);
	MPIX_Expect_safepoints((limit + 9) / 10); /* at most: the plate may settle before */
	while (steps < limit && change > tolerance) {
		if (steps % 10 == 0) /* after an even number of steps now is the array that was registered */
			MPIX_Safepoint(NULL);
		exchange();
		change = step();
		if (++steps % 10 == 0) {
			MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
			if (rank == 0 && steps % 1000 == 0)
				printf("step %d: the largest change is %.3e\n", steps, change);
		} else {
			change = 1; /* one rank can't know whether the plate has settled */
		}
	}

	/* Each row has a sum of its own. The sums are added up in the order of the rows, so the result
	   is the same for any division. */
	double *sums = malloc(rows * sizeof *sums), *all = NULL;
	int *counts = NULL, *offsets = NULL;
	for (int i = 0; i < rows; i++) {
		sums[i] = 0;
		for (int j = 0; j < n; j++)
			sums[i] += row(now, i + 1)[j];
	}
	if (rank == 0) {
		all = malloc(n * sizeof *all);
		counts = malloc(size * sizeof *counts);
		offsets = malloc(size * sizeof *offsets);
		for (int r = 0, at = 0; r < size; at += counts[r++])
			counts[r] = share(r), offsets[r] = at;
	}
	MPI_Gatherv(sums, rows, MPI_DOUBLE, all, counts, offsets, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	if (rank == 0) {
		double sum = 0;
		for (int i = 0; i < n; i++)
			sum += all[i];
		printf("%d points, %d steps: mean temperature %.6f (sum %a)\n", n * n, steps, sum / n / n, sum);
	}
	MPI_Finalize();
	return 0;
}
