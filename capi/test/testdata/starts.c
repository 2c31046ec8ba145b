// starts runs another program, its argument, between MPI_Init and MPI_Finalize of each rank.
#include <mpi.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	int failed;
	MPI_Init(&argc, &argv);
	failed = argc < 2 || system(argv[1]) != 0;
	MPI_Finalize();
	return failed;
}
