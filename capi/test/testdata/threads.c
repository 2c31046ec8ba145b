// threads any|named: four threads of each rank, each with a communicator of its own, pass a number
// around. They receive from any source, or from the one that sends. A comment says which line a call
// is in.

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mpi.h"

enum { count = 4, rounds = 400 };

static int rank, size, any;
static MPI_Comm comms[count];
static long sums[count];

static void *pass(void *which)
{
	int i = *(int *)which, to = (rank + 1) % size, from = (rank + size - 1) % size;
	long value = rank + i, got;
	for (int round = 0; round < rounds; round++) {
		MPI_Send(&value, 1, MPI_LONG, to, 0, comms[i]);
		if (any)
			MPI_Recv(&got, 1, MPI_LONG, MPI_ANY_SOURCE, 0, comms[i], MPI_STATUS_IGNORE); // line 25
		else
			MPI_Recv(&got, 1, MPI_LONG, from, 0, comms[i], MPI_STATUS_IGNORE);
		value = got + 1;
	}
	sums[i] = value;
	return NULL;
}

int main(int argc, char **argv)
{
	int provided, which[count];
	pthread_t threads[count];
	MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	any = argc > 1 && strcmp(argv[1], "any") == 0;
	for (int i = 0; i < count; i++) {
		which[i] = i;
		MPI_Comm_dup(MPI_COMM_WORLD, &comms[i]);
	}
	for (int i = 0; i < count; i++)
		pthread_create(&threads[i], NULL, pass, &which[i]);
	for (int i = 0; i < count; i++)
		pthread_join(threads[i], NULL);
	if (rank == 0)
		printf("%ld %ld %ld %ld\n", sums[0], sums[1], sums[2], sums[3]);
	MPI_Finalize();
	return 0;
}
