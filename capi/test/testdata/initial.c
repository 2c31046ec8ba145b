// initial HOW shows with which error handler a program starts: HOW is handlers (their names), error (a
// wrong rank), or death (rank 1 dies, and the others wait for it).
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <string.h>

static const char *name(MPI_Comm comm)
{
	MPI_Errhandler h;
	MPI_Comm_get_errhandler(comm, &h);
	return h == MPI_ERRORS_ARE_FATAL ? "fatal" : h == MPI_ERRORS_ABORT ? "abort" : h == MPI_ERRORS_RETURN ? "return" : "other";
}

int main(int argc, char **argv)
{
	int rank, x = 0, class = MPI_SUCCESS, code;
	MPI_Comm dup;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (strcmp(argv[1], "handlers") == 0) {
		char said[64] = "";
		int given = 0;
		MPI_Comm_dup(MPI_COMM_WORLD, &dup);
		MPI_Info_get(MPI_INFO_ENV, "mpi_initial_errhandler", 63, said, &given);
		printf("rank %d: %s %s %s %s\n", rank, name(MPI_COMM_WORLD), name(MPI_COMM_SELF), name(dup), given ? said : "-");
		MPI_Comm_free(&dup);
	} else {
		if (strcmp(argv[1], "error") == 0) {
			code = MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
		} else {
			MPI_Barrier(MPI_COMM_WORLD);
			if (rank == 1)
				raise(SIGKILL);
			code = MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
		MPI_Error_class(code, &class);
		printf("rank %d: %s\n", rank, class == MPI_ERR_RANK ? "wrong rank" : class == MPI_SUCCESS ? "fine" : "loss");
	}
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
