// The header is valid C++, too, and its function pointers accept the functions of C++ programs.
#include <mpi.h>

static void handler(MPI_Comm *, int *, ...) {}

int main(int argc, char **argv)
{
	MPI_Errhandler h;
	MPI_Init(&argc, &argv);
	MPI_Comm_create_errhandler(handler, &h);
	MPI_Errhandler_free(&h);
	return MPI_Finalize() == MPI_SUCCESS && h == MPI_ERRHANDLER_NULL ? 0 : 1;
}
