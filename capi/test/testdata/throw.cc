// throw has an error handler that throws an exception through the library to the program.
#include <mpi.h>

#include <cstdio>

static void handler(MPI_Comm *, int *code, ...) { throw *code; }

int main(int argc, char **argv)
{
	MPI_Errhandler h;
	MPI_Init(&argc, &argv);
	MPI_Comm_create_errhandler(handler, &h);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
	int caught = 0;
	for (int i = 0; i < 100; i++) {
		try {
			int n;
			MPI_Comm_rank(MPI_COMM_NULL, &n);
		} catch (int code) {
			caught += code == MPI_ERR_COMM;
		}
	}
	std::printf("caught %d\n", caught);
	return MPI_Finalize();
}
