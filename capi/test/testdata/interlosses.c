// interlosses connects two groups of ranks and loses some. With the argument "dies" a rank of the
// second group dies, and the program handles that. With "heals" it has safe points, where replicas
// are replaced.
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "inter.h"

// dies: the last rank dies, which is in the second group. The others notice in their collectives,
// agree, and go on with an intercommunicator of those that live.
static void dies(void)
{
	int flag, n, value = rank;
	MPI_Comm rest, intra;
	MPI_Group failed;
	MPI_Request request;
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
	flag = first ? 6 : 3; // each group gets the other one's
	OK(MPIX_Comm_agree(inter, &flag));
	CHECK(flag == (first ? 3 : 6));
	if (rank == size - 1)
		raise(SIGKILL);
	if (rank == 0) { // a receive from any source shows the death of a rank of the other group
		n = code(inter, MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, 0, inter, MPI_STATUS_IGNORE));
		CHECK(n == MPIX_ERR_PROC_FAILED);
		CHECK(code(inter, MPI_Send(&n, 1, MPI_INT, remote - 1, 0, inter)) == MPIX_ERR_PROC_FAILED);
		OK(MPIX_Comm_revoke(inter));
	} else if (rank == low) { // one from the first group waits for the revocation
		n = code(inter, MPI_Recv(&n, 1, MPI_INT, MPI_ANY_SOURCE, 0, inter, MPI_STATUS_IGNORE));
		CHECK(n == MPIX_ERR_REVOKED);
	}
	n = code(inter, MPI_Barrier(inter));
	CHECK(n == MPIX_ERR_REVOKED || n == MPIX_ERR_PROC_FAILED);
	flag = first ? 12 : 10;
	n = code(inter, MPIX_Comm_agree(inter, &flag));
	CHECK(n == MPIX_ERR_PROC_FAILED && flag == (first ? 10 : 12));
	OK(MPIX_Comm_failure_ack(inter));
	OK(MPIX_Comm_failure_get_acked(inter, &failed));
	OK(MPI_Group_size(failed, &n));
	CHECK(n == 1);
	flag = first ? 5 : 9;
	OK(MPIX_Comm_iagree(inter, &flag, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	CHECK(flag == (first ? 9 : 5));
	OK(MPIX_Comm_shrink(inter, &rest));
	OK(MPI_Comm_free(&inter));
	OK(MPI_Comm_remote_size(rest, &n));
	CHECK(n == (first ? remote - 1 : low));
	OK(MPI_Comm_size(rest, &n));
	CHECK(n == (first ? low : local - 1));
	OK(MPI_Allreduce(&value, &n, 1, MPI_INT, MPI_SUM, rest));
	CHECK(n == (first ? (size - 2) * (size - 1) / 2 - (low - 1) * low / 2 : (low - 1) * low / 2));
	OK(MPI_Intercomm_merge(rest, first, &intra));
	OK(MPI_Comm_size(intra, &n));
	CHECK(n == size - 1);
	OK(MPI_Allreduce(&value, &n, 1, MPI_INT, MPI_SUM, intra));
	CHECK(n == (size - 2) * (size - 1) / 2);
	OK(MPI_Comm_free(&intra));
	OK(MPI_Comm_free(&rest));
	printf("rank %d goes on\n", rank);
}

// heals: replicas are replaced at safe points, with an intercommunicator that was made before. At the
// end each group connects once more: a replacement knows how often it has.
static void heals(void)
{
	int step = 0, kept = 0, in, sum, count;
	MPI_Comm dup, again;
	MPI_Request background, persistent;
	OK(MPI_Comm_dup(inter, &dup));
	OK(MPI_Allreduce_init(&rank, &count, 1, MPI_INT, MPI_SUM, dup, MPI_INFO_NULL, &persistent));
	OK(MPIX_State_register("step", &step, 1, MPI_INT));
	OK(MPIX_State_register("kept", &kept, 1, MPI_INT));
	for (; step < 400; step++) {
		OK(MPIX_Safepoint(NULL));
		int mine = rank + step;
		OK(MPI_Iallreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, dup, &background));
		OK(MPI_Start(&persistent));
		in = 0;
		if (here == 0)
			OK(MPI_Sendrecv(&mine, 1, MPI_INT, 0, 1, &in, 1, MPI_INT, 0, 1, inter, MPI_STATUS_IGNORE));
		OK(MPI_Wait(&background, MPI_STATUS_IGNORE));
		OK(MPI_Wait(&persistent, MPI_STATUS_IGNORE));
		kept = kept * 31 + sum + 7 * in + count;
		MPI_Comm made;
		connect(MPI_COMM_WORLD, step, &made);
		OK(MPI_Allgather(&kept, first, MPI_INT, &sum, !first, MPI_INT, made));
		OK(MPI_Comm_free(&made));
		usleep(2000);
	}
	connect(MPI_COMM_WORLD, 0, &again);
	OK(MPI_Barrier(again));
	OK(MPI_Comm_free(&again));
	OK(MPI_Request_free(&persistent));
	OK(MPI_Comm_free(&dup));
	printf("rank %d: %08x\n", rank, kept);
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	begin();
	CHECK(argc == 2);
	if (!strcmp(argv[1], "dies"))
		dies();
	else
		heals();
	return END;
}
