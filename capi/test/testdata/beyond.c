/* A program whose rank 1 says that a buffer is larger than it is: "beyond recv|irecv|put". */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
	int rank, given[16] = {0}, *room;
	const char *how = argc > 1 ? argv[1] : "";
	MPI_Request request;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	room = malloc(4 * sizeof *room);
	if (strcmp(how, "put") == 0) {
		MPI_Win w;
		int *part;
		MPI_Win_allocate(sizeof given, sizeof *given, MPI_INFO_NULL, MPI_COMM_WORLD, &part, &w);
		MPI_Win_lock_all(0, w);
		if (rank == 1) {
			MPI_Put(room, 16, MPI_INT, 0, 0, 16, MPI_INT, w);
			MPI_Win_flush(0, w);
		}
		MPI_Win_unlock_all(w);
		MPI_Win_free(&w);
	}
	for (int i = 0; i < 1000 && strcmp(how, "put") != 0; i++) { /* some of them are C's alone */
		if (rank == 0) {
			MPI_Send(given, 16, MPI_INT, 1, 0, MPI_COMM_WORLD);
			MPI_Recv(given, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			continue;
		}
		if (strcmp(how, "irecv") == 0) {
			MPI_Irecv(room, 16, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
			MPI_Wait(&request, MPI_STATUS_IGNORE);
		} else {
			MPI_Recv(room, 16, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		}
		MPI_Send(given, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
	}
	free(room);
	MPI_Finalize();
	return 0;
}
