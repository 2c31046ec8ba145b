/* Ranks 0 and 1 send a number back and forth until the file of the argument is there. Messages are
   short, and their receives are the next ones: C sends and receives them without Go, where it may. */
#include <mpi.h>
#include <stdio.h>
#include <unistd.h>

#include "check.h"

int main(int argc, char **argv)
{
	long n = 0, got = 0;
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	while (n >= 0) {
		if (rank == 0) {
			if (++n % 200 == 0) {
				usleep(1000); /* the machine has other things to do */
				if (access(argv[1], F_OK) == 0)
					n = -n;
			}
			CHECK(MPI_Send(&n, 1, MPI_LONG, 1, 3, MPI_COMM_WORLD) == MPI_SUCCESS);
			CHECK(MPI_Recv(&got, 1, MPI_LONG, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
			CHECK(got == n);
		} else {
			CHECK(MPI_Recv(&got, 1, MPI_LONG, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE) == MPI_SUCCESS);
			CHECK(got == n + 1 || got == -n - 1);
			n = got;
			CHECK(MPI_Send(&n, 1, MPI_LONG, 0, 3, MPI_COMM_WORLD) == MPI_SUCCESS);
		}
	}
	MPI_Finalize();
	return n < -1000 && !wrong ? 0 : 3;
}
