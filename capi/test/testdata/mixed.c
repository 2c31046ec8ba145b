/* mixed tests a list of requests of which C knows one and only Go the other. Such a test has to make
   progress, as a test of Go's request alone does: so it takes about as long, and not a tenth. */
#include <mpi.h>
#include <stdio.h>

enum { TESTS = 2000, TIMES = 5 };

/* The shortest time of so many tests, none of which ends anything. */
static double tested(int count, MPI_Request *requests)
{
	double least = 1e9;
	int flag;
	for (int t = 0; t < TIMES; t++) {
		double began = MPI_Wtime();
		for (int i = 0; i < TESTS; i++) {
			MPI_Testall(count, requests, &flag, MPI_STATUSES_IGNORE);
			if (flag)
				MPI_Abort(MPI_COMM_WORLD, 1);
		}
		double took = MPI_Wtime() - began;
		least = took < least ? took : least;
	}
	return least;
}

int main(int argc, char **argv)
{
	int rank, number = 7, own;
	MPI_Request requests[2];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	for (int i = 0; i < 1000; i++) /* until C has the messages */
		MPI_Sendrecv_replace(&number, 1, MPI_INT, 1 - rank, 5, 1 - rank, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 0) {
		MPI_Irecv(&number, 1, MPI_INT, 1, 3, MPI_COMM_WORLD, &requests[0]);
		MPI_Irecv(&own, 1, MPI_INT, 0, 6, MPI_COMM_WORLD, &requests[1]); /* of this rank itself: Go's */
		double alone = tested(1, &requests[1]), both = tested(2, requests);
		if (both < alone / 3)
			printf("tests of both take %.0f ns, of Go's alone %.0f\n", both * 1e9 / TESTS, alone * 1e9 / TESTS);
		else
			printf("good\n");
		MPI_Send(&number, 1, MPI_INT, 1, 4, MPI_COMM_WORLD);
		MPI_Send(&number, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
		MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
	} else {
		MPI_Recv(&number, 1, MPI_INT, 0, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Send(&number, 1, MPI_INT, 0, 3, MPI_COMM_WORLD);
	}
	MPI_Finalize();
	return 0;
}
