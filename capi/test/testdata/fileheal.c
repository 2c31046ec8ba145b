// A program with safe points that uses files between them: what it writes depends on what it has
// read. Dead replicas are replaced while it runs.
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "mpi-ext.h"

static int rank, size, round_, restores;

static void check(int code, const char *what)
{
	if (code != MPI_SUCCESS) {
		fprintf(stderr, "rank %d: %s: %d\n", rank, what, code);
		MPI_Abort(MPI_COMM_WORLD, 3);
	}
}

#define CHECK(call) check(call, #call)

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int rounds = atoi(argv[2]);
	CHECK(MPIX_State_register("round", &round_, 1, MPI_INT));
	CHECK(MPIX_State_register("restores", &restores, 1, MPI_INT));
	for (; round_ < rounds; round_++) {
		int restored;
		long n = 0, next;
		MPI_File f;
		CHECK(MPIX_Safepoint(&restored));
		restores += restored;
		usleep(2000);
		CHECK(MPI_File_open(MPI_COMM_WORLD, argv[1], MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
		CHECK(MPI_File_read_at_all(f, 8 * rank, &n, 1, MPI_LONG, MPI_STATUS_IGNORE));
		CHECK(MPI_Sendrecv(&n, 1, MPI_LONG, (rank + 1) % size, 0, &next, 1, MPI_LONG, (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
		n = n * 3 + next + rank + 1;
		CHECK(MPI_File_write_at_all(f, 8 * rank, &n, 1, MPI_LONG, MPI_STATUS_IGNORE));
		CHECK(MPI_File_close(&f));
	}
	if (restores > 0)
		fprintf(stderr, "restored\n");
	if (rank == 0)
		printf("done\n");
	MPI_Finalize();
	return 0;
}
