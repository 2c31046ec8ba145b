// profile is a profiling library: it counts calls of MPI_Comm_size and MPI_Init, which go
// on to PMPI. None but the program's own may come here.
#include <mpi.h>
#include <stdio.h>

static int inits, sizes;

int MPI_Init(int *argc, char ***argv)
{
	inits++;
	return PMPI_Init(argc, argv);
}

int MPI_Comm_size(MPI_Comm comm, int *size)
{
	sizes++;
	return PMPI_Comm_size(comm, size);
}

int MPI_Finalize(void)
{
	printf("%d %d\n", inits, sizes);
	return PMPI_Finalize();
}
