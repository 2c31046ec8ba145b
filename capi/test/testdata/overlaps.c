/* What a collective sends and what it receives must not overlap. All ranks get the same error, and the
   next collective works. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 4 }; /* elements for each rank */

static int rank, size, failed;

static void is(int line, int code, int want) {
	int class;
	MPI_Error_class(code, &class);
	if (class != want) printf("rank %d, line %d: class %d, not %d\n", rank, line, class, want), failed = 1;
}
#define BAD(call) is(__LINE__, (call), MPI_ERR_BUFFER)
#define GOOD(call) is(__LINE__, (call), MPI_SUCCESS)

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm world = MPI_COMM_WORLD;
	MPI_Comm_set_errhandler(world, MPI_ERRORS_RETURN);
	MPI_Comm_rank(world, &rank);
	MPI_Comm_size(world, &size);
	int *a = calloc(8 * N * size, sizeof *a), *b = a + 4 * N * size, counts[64], places[64], apart[64], bytes[64];
	MPI_Datatype types[64], pair;
	MPI_Request r;
	MPI_Type_vector(N, 1, 2, MPI_INT, &pair); /* every second */
	MPI_Type_commit(&pair);
	for (int i = 0; i < size; i++)
		counts[i] = N, places[i] = i * N, apart[i] = (size + i) * N, bytes[i] = i * N * sizeof *a, types[i] = MPI_INT;
	int *own = a + rank * N;
	for (int round = 0; round < 2; round++) {
		BAD(MPI_Allreduce(a, a, N, MPI_INT, MPI_SUM, world));
		BAD(MPI_Allreduce(a, a + 1, N, MPI_INT, MPI_SUM, world));
		BAD(MPI_Allreduce(a + N - 1, a, N, MPI_INT, MPI_SUM, world));
		BAD(MPI_Allgather(a, 1, pair, a, 1, pair, world));
		GOOD(MPI_Allreduce(a, a + N, N, MPI_INT, MPI_SUM, world));
		GOOD(MPI_Allreduce(MPI_IN_PLACE, a, N, MPI_INT, MPI_SUM, world));
		GOOD(MPI_Allreduce(a, a, 0, MPI_INT, MPI_SUM, world));
		BAD(MPI_Scan(a, a, N, MPI_INT, MPI_SUM, world));
		BAD(MPI_Exscan(a, a, N, MPI_INT, MPI_SUM, world));
		BAD(MPI_Reduce_scatter(a, a, counts, MPI_INT, MPI_SUM, world));
		BAD(MPI_Reduce_scatter_block(a, a + N - 1, N, MPI_INT, MPI_SUM, world));
		GOOD(MPI_Reduce_scatter_block(MPI_IN_PLACE, a, N, MPI_INT, MPI_SUM, world));
		BAD(MPI_Allgather(own, N, MPI_INT, a, N, MPI_INT, world));
		GOOD(MPI_Allgather(MPI_IN_PLACE, 0, MPI_INT, a, N, MPI_INT, world));
		BAD(MPI_Allgatherv(own, N, MPI_INT, a, counts, places, MPI_INT, world));
		GOOD(MPI_Allgatherv(b, N, MPI_INT, a, counts, places, MPI_INT, world));
		BAD(MPI_Alltoall(a, N, MPI_INT, a, N, MPI_INT, world));
		GOOD(MPI_Alltoall(a, N, MPI_INT, b, N, MPI_INT, world));
		BAD(MPI_Alltoallv(a, counts, places, MPI_INT, a, counts, places, MPI_INT, world));
		GOOD(MPI_Alltoallv(a, counts, places, MPI_INT, a, counts, apart, MPI_INT, world)); /* one array, apart */
		BAD(MPI_Alltoallw(a, counts, bytes, types, a, counts, bytes, types, world));
		BAD(MPI_Iallreduce(a, a, N, MPI_INT, MPI_SUM, world, &r));
		BAD(MPI_Allreduce_init(a, a, N, MPI_INT, MPI_SUM, world, MPI_INFO_NULL, &r));
		/* the others of these do without the root, which tries again */
		int at = rank == 0;
		if (at) {
			BAD(MPI_Reduce(a, a, N, MPI_INT, MPI_SUM, 0, world));
			BAD(MPI_Gather(a, N, MPI_INT, a, N, MPI_INT, 0, world));
			BAD(MPI_Gatherv(a, N, MPI_INT, a, counts, places, MPI_INT, 0, world));
			BAD(MPI_Scatter(a, N, MPI_INT, a, N, MPI_INT, 0, world));
			BAD(MPI_Scatterv(a, counts, places, MPI_INT, a, N, MPI_INT, 0, world));
		}
		GOOD(MPI_Reduce(a, b, N, MPI_INT, MPI_SUM, 0, world));
		GOOD(MPI_Gather(at ? MPI_IN_PLACE : a, N, MPI_INT, a, N, MPI_INT, 0, world));
		GOOD(MPI_Scatter(a, N, MPI_INT, at ? MPI_IN_PLACE : a, N, MPI_INT, 0, world));
		GOOD(MPI_Alltoallv(a, counts, places, MPI_INT, b, counts, places, MPI_INT, world));
		BAD(MPI_Reduce_local(a, a, N, MPI_INT, MPI_SUM));
		GOOD(MPI_Reduce_local(a, b, N, MPI_INT, MPI_SUM));
	}
	/* it is the same in a communicator of neighbours */
	int periods[1] = {1}, dims[1] = {size};
	MPI_Comm ring;
	MPI_Cart_create(world, 1, dims, periods, 0, &ring);
	BAD(MPI_Neighbor_allgather(a, N, MPI_INT, a, N, MPI_INT, ring));
	BAD(MPI_Neighbor_alltoall(a, N, MPI_INT, a + N, N, MPI_INT, ring));
	GOOD(MPI_Neighbor_alltoall(a, N, MPI_INT, a + 2 * N, N, MPI_INT, ring));
	int sum = 0;
	GOOD(MPI_Reduce(&failed, &sum, 1, MPI_INT, MPI_SUM, 0, world));
	if (rank == 0 && sum == 0) printf("good\n");
	MPI_Finalize();
	return failed;
}
