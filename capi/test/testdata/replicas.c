// replicas NAME does something that banyan check must find, or must not complain about.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size;

// farm gives the next piece of work to the first rank that has finished one.
static void farm(void) {
	double work = 0;
	MPI_Status s;
	if (rank > 0) {
		do {
			MPI_Send(&work, 1, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD);
			MPI_Recv(&work, 1, MPI_DOUBLE, 0, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
		} while (s.MPI_TAG == 1);
		return;
	}
	for (int i = 0; i < 60 + size - 1; i++) {
		MPI_Recv(&work, 1, MPI_DOUBLE, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &s);
		MPI_Send(&work, 1, MPI_DOUBLE, s.MPI_SOURCE, i < 60 ? 1 : 2, MPI_COMM_WORLD);
	}
}

// replies answers in the order in which requests end.
static void replies(void) {
	int buffer[64] = {0};
	MPI_Request requests[64];
	for (int round = 0; round < 20; round++) {
		if (rank > 0) {
			MPI_Send(buffer, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
			MPI_Recv(buffer, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			continue;
		}
		for (int i = 1; i < size; i++)
			MPI_Irecv(&buffer[i], 1, MPI_INT, i, 1, MPI_COMM_WORLD, &requests[i - 1]);
		for (int i = 1, which; i < size; i++) {
			MPI_Waitany(size - 1, requests, &which, MPI_STATUS_IGNORE);
			MPI_Send(buffer, 1, MPI_INT, which + 1, 1, MPI_COMM_WORLD);
		}
	}
}

// alike sends structures whose gaps have undefined contents. It uses every kind of send, several
// kinds of collectives, and receives from any source.
static void alike(void) {
	struct item {
		char c; // a gap follows
		double d;
	} items[4], got[4];
	MPI_Datatype type, item;
	int one[2] = {1, 1};
	MPI_Aint at[2] = {0, (char *)&items[0].d - (char *)&items[0]};
	MPI_Datatype types[2] = {MPI_CHAR, MPI_DOUBLE};
	MPI_Type_create_struct(2, one, at, types, &type);
	MPI_Type_create_resized(type, 0, sizeof items[0], &item);
	MPI_Type_commit(&item);
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	for (int round = 0; round < 10; round++) {
		memset(items, getpid() & 0xff, sizeof items);
		for (int i = 0; i < 4; i++)
			items[i].c = i, items[i].d = rank + round;
		MPI_Request r;
		MPI_Irecv(got, 4, item, MPI_ANY_SOURCE, round, MPI_COMM_WORLD, &r);
		if (round % 2)
			MPI_Ssend(items, 4, item, right, round, MPI_COMM_WORLD);
		else
			MPI_Send(items, 4, item, right, round, MPI_COMM_WORLD);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		MPI_Sendrecv_replace(items, 4, item, right, 99, left, 99, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Bcast(got, 4, item, round % size, MPI_COMM_WORLD);
		double sum, own = got[0].d;
		MPI_Allreduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
	}
	MPI_Type_free(&item);
	MPI_Type_free(&type);
}

// timers adds up times.
static void timers(void) {
	double own, sum;
	for (int i = 0; i < 10; i++) {
		own = MPI_Wtime();
		MPI_Reduce(&own, &sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	}
}

// buckets sends blocks of which it sets a part: the rest is what was in memory, here an address.
static void buckets(void) {
	struct { long used, slot[7]; } mine[size], theirs[size];
	long here = (long)&here;
	for (int i = 0; i < size; i++) {
		for (int k = 0; k < 7; k++)
			mine[i].slot[k] = k < 3 ? k : here;
		mine[i].used = 3;
	}
	for (int i = 0; i < 10; i++)
		MPI_Alltoall(mine, 8, MPI_LONG, theirs, 8, MPI_LONG, MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	const char *what = argc > 1 ? argv[1] : "";
	if (!strcmp(what, "farm"))
		farm();
	else if (!strcmp(what, "replies"))
		replies();
	else if (!strcmp(what, "alike"))
		alike();
	else if (!strcmp(what, "timers"))
		timers();
	else if (!strcmp(what, "buckets"))
		buckets();
	else
		MPI_Abort(MPI_COMM_WORLD, 2);
	MPI_Finalize();
	return 0;
}
