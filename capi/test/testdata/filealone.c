/* filealone NAME: rank 1 reads and writes a file many times while the others wait for it. A replica of it
   that has no sibling left is woken by nobody but itself. */
#include <mpi.h>
#include <stdio.h>

#include "check.h"

int main(int argc, char **argv)
{
	enum { TIMES = 2500 };
	int rank, number = -1, sum = 0;
	MPI_File f;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	OK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	for (int i = 0; i < 10; i++) /* which sends */
		OK(MPI_Barrier(MPI_COMM_WORLD));
	for (int i = 0; rank == 1 && i < TIMES; i++) {
		OK(MPI_File_write_at(f, 4 * i, &i, 1, MPI_INT, MPI_STATUS_IGNORE));
		OK(MPI_File_read_at(f, 4 * i, &number, 1, MPI_INT, MPI_STATUS_IGNORE));
		sum += number;
	}
	OK(MPI_File_close(&f));
	CHECK(rank != 1 || sum == TIMES * (TIMES - 1) / 2);
	return END;
}
