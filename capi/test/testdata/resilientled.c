// resilientled ROUNDS makes resilient collectives in a job whose rank 1 may be lost, and prints what
// they have come to: all that live print the same. A communicator without rank 1 works on.
#include <mpi.h>
#include "mpi-ext.h"

#include <stdio.h>
#include <stdlib.h>

#include "check.h"

enum { MOST = 512 };

static unsigned long long mixed;

static void mix(unsigned long long x) { mixed = mixed * 6364136223846793005ULL + x; }

// The outcome of a collective: its error, and what it has given.
static void note(int code, const double *got, int count)
{
	int class;
	MPI_Error_class(code, &class);
	if (class != MPI_SUCCESS && class != MPIX_ERR_PROC_FAILED) {
		char text[MPI_MAX_ERROR_STRING];
		int length;
		MPI_Error_string(code, text, &length);
		fprintf(stderr, "not so: %s, count %d, mixed %llx\n", text, count, mixed);
		wrong++;
	}
	mix(class);
	for (int i = 0; i < count; i++)
		mix((unsigned long long)got[i]);
}

// The members of a communicator that loses nobody agree, and add up in the background.
static void spared(MPI_Comm comm, int round, int members)
{
	int flags = round | 1, all, one = 1, sum = 0;
	MPI_Request adds;

	OK(MPIX_Comm_agree(comm, &flags));
	CHECK(flags == (round | 1));
	OK(MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm, &adds));
	OK(MPI_Wait(&adds, MPI_STATUS_IGNORE));
	CHECK(sum == members);
	OK(MPI_Allreduce(&round, &all, 1, MPI_INT, MPI_MIN, comm));
	CHECK(all == round);
}

int main(int argc, char **argv)
{
	int rank, size, lost = 0, count;
	double mine[MOST], sum[MOST], all = 0;
	MPI_Info info;
	MPI_Comm comm, other;

	MPI_Init(&argc, &argv);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Info_create(&info);
	MPI_Info_set(info, "banyan_resilient", "true");
	CHECK(MPI_Comm_dup_with_info(MPI_COMM_WORLD, info, &comm) == MPI_SUCCESS);
	MPI_Info_free(&info);
	OK(MPI_Comm_split(MPI_COMM_WORLD, rank == 1, rank, &other));
	for (int round = 0; round < atoi(argv[1]); round++) {
		count = 1 + round * 37 % MOST; // up to 4 KiB
		for (int i = 0; i < count; i++)
			mine[i] = round + rank * 1000 + i;
		int code = MPI_Allreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, comm);
		note(code, sum, count);
		all += sum[0];
		spared(other, round, rank == 1 ? 1 : size - 1);
		note(MPI_Barrier(comm), NULL, 0);
		code = MPI_Reduce(mine, sum, 1, MPI_DOUBLE, MPI_MAX, size - 1, comm);
		note(code, NULL, 0);
		if (rank == size - 1)
			CHECK(code == MPI_SUCCESS || sum[0] >= round);
		if (code != MPI_SUCCESS) {
			lost++;
			MPIX_Comm_ack_failed(comm, size, &count);
		}
	}
	printf("goes on: %d times without a rank, %llx\n", lost, mixed);
	MPI_Comm_free(&other);
	MPI_Comm_free(&comm);
	return END;
}
