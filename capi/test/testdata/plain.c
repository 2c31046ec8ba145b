// plain calls a few functions and says nothing.
#include <mpi.h>

int main(int argc, char **argv)
{
	int size;
	MPI_Init(&argc, &argv);
	for (int i = 0; i < 3; i++)
		MPI_Comm_size(MPI_COMM_WORLD, &size);
	return MPI_Finalize();
}
