// Programs that wait for what is never sent. Each but the last would hang for ever. A comment says
// which line a call is in.

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi.h"

// As a benchmark that runs for a given time: how many rounds it makes differs between replicas.
static void rounds(void)
{
	const char *process = getenv("PMI_RANK");
	int more = process && atoi(process) >= 2;
	double x = 1, sum;
	for (int i = 0; i < (more ? 40 : 20); i++) {
		MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); // line 17
		usleep(20000);
	}
}

static void waits(const char *what, int rank)
{
	int x = 0, y = 0;
	MPI_Request q[2];
	if (rank > 0)
		return;
	if (strcmp(what, "receive") == 0)
		MPI_Recv(&x, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // line 29
	if (strcmp(what, "any") == 0)
		MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // line 31
	if (strcmp(what, "probe") == 0)
		MPI_Probe(1, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE); // line 33
	if (strcmp(what, "bcast") == 0)
		MPI_Bcast(&x, 1, MPI_INT, 1, MPI_COMM_WORLD); // line 35
	MPI_Irecv(&x, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &q[0]);
	MPI_Irecv(&y, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, &q[1]);
	if (strcmp(what, "all") == 0)
		MPI_Waitall(2, q, MPI_STATUSES_IGNORE); // line 39
	// Another rank has finished long ago, and this is right nevertheless.
	sleep(3);
	MPI_Send(&x, 1, MPI_INT, 0, 4, MPI_COMM_WORLD);
	int index;
	MPI_Waitany(2, q, &index, MPI_STATUS_IGNORE);
	MPI_Cancel(&q[0]);
	MPI_Wait(&q[0], MPI_STATUS_IGNORE);
	if (index != 1)
		MPI_Abort(MPI_COMM_WORLD, 9);
}

int main(int argc, char **argv)
{
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	if (strcmp(argv[1], "rounds") == 0)
		rounds();
	else
		waits(argv[1], rank);
	MPI_Finalize();
	return 0;
}
