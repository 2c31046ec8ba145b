// loss HOW, on three ranks, shows what happens when a rank dies. Rank 1 dies while the others wait
// for a message from it.
#include <mpi.h>

#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static jmp_buf out;
static int code;
static void handler(MPI_Comm *comm, int *error, ...)
{
	code = *error;
	longjmp(out, 1);
}

int main(int argc, char **argv)
{
	int rank, x = 0, class = MPI_SUCCESS;
	MPI_Errhandler h;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	// Rank 1 may be dead before the barrier has ended here. Then the barrier fails, and a handler
	// that jumps would find no place to jump to yet.
	if (strcmp(argv[1], "fatal") != 0)
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 1)
		raise(SIGKILL);
	if (strcmp(argv[1], "handler") == 0) {
		MPI_Comm_create_errhandler(handler, &h);
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
	}
	if (setjmp(out) == 0)
		code = MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	MPI_Error_class(code, &class);
	printf("rank %d: class %d\n", rank, class);
	fflush(stdout);
	// The ranks that are left can still communicate.
	if (rank == 0) {
		x = 41;
		MPI_Send(&x, 1, MPI_INT, 2, 0, MPI_COMM_WORLD);
	} else {
		MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		printf("heard %d\n", x);
	}
	return MPI_Finalize();
}
