// rmaheal puts and fetches between safe points, while replicas die and are replaced. What it computes
// depends on each epoch before.
#include <mpi.h>
#include <mpi-ext.h>

#include <stdlib.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv)
{
	int rank, size, steps = argc > 1 ? atoi(argv[1]) : 10, step = 0;
	double part[8] = {0}, x = 1, was = 0;
	MPI_Win w;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	OK(MPI_Win_create(part, sizeof part, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &w));
	OK(MPIX_State_register("step", &step, 1, MPI_INT));
	OK(MPIX_State_register("x", &x, 1, MPI_DOUBLE));
	OK(MPIX_State_register("part", part, 8, MPI_DOUBLE));
	OK(MPI_Win_fence(0, w));
	for (; step < steps; step++) {
		OK(MPIX_Safepoint(NULL));
		int right = (rank + 1) % size;
		x += rank;
		OK(MPI_Put(&x, 1, MPI_DOUBLE, right, step % 4, 1, MPI_DOUBLE, w));
		OK(MPI_Fetch_and_op(&x, &was, MPI_DOUBLE, 0, 5, MPI_SUM, w));
		OK(MPI_Win_fence(0, w));
		x = (x + was / 3 + part[step % 4]) / 2;
		usleep(20000);
	}
	printf("rank %d: %.6f %.6f\n", rank, x, part[5]);
	OK(MPI_Win_free(&w));
	return END;
}
