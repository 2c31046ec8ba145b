/* Linked to examples/heat/heat.c, this makes it slow until a file exists, whose name is in the
   environment: a test can do something to the job meanwhile, however fast the machine is. The sums
   of the first thousand steps aren't slow. Replicas stay equal: they send the same, at other times. */
#include <mpi.h>
#include <stdlib.h>
#include <unistd.h>

int MPI_Allreduce(const void *from, void *to, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
	static int calls;
	const char *file = getenv("SLOW_UNTIL");
	if (++calls > 100 && file != NULL && access(file, F_OK) != 0)
		usleep(100000);
	return PMPI_Allreduce(from, to, count, type, op, comm);
}
