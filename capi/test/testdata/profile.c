// profile is a profiling library: it counts the program's calls, and calls the PMPI function for
// each. Only the program's own calls may come here.
#include <mpi.h>
#include <stdio.h>

static int sends, receives, others;

int MPI_Send(const void *buf, int count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm)
{
	sends++;
	return PMPI_Send(buf, count, datatype, dest, tag, comm);
}

int MPI_Recv(void *buf, int count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status)
{
	receives++;
	return PMPI_Recv(buf, count, datatype, source, tag, comm, status);
}

int MPI_Comm_rank(MPI_Comm comm, int *rank)
{
	others++;
	return PMPI_Comm_rank(comm, rank);
}

int MPI_Allreduce(const void *sendbuf, void *recvbuf, int count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm)
{
	others++;
	return PMPI_Allreduce(sendbuf, recvbuf, count, datatype, op, comm);
}

int MPI_Finalize(void)
{
	printf("%d sends, %d receives, %d others\n", sends, receives, others);
	return PMPI_Finalize();
}
