/* A program whose replicas can be replaced. It has all state that may exist at a safe point:
   unexpected messages, communicators and datatypes made before, persistent requests,
   output in buffers, and input of which more has been read than used. Each rank prints its sums
   from time to time. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "mpi-ext.h"

enum { LARGE = 40000 }; /* doubles: so many are sent by rendezvous */

static void check(int code, int line)
{
	if (code != MPI_SUCCESS) {
		fprintf(stderr, "line %d: error %d\n", line, code);
		MPI_Abort(MPI_COMM_WORLD, 1);
	}
}
#define CHECK(call) check(call, __LINE__)

/* stdout's buffer. It is written out when a replacement takes the state, and at the end. */
static char buffer[1 << 16];

/* taken is the sum of what a step reads from the input. It reads in different ways, and mostly
   leaves a part of stdin's buffer unread. */
static double taken(int step)
{
	int number = 0, sum = 0;
	char line[32];
	for (int i = 0; i < 1 + step % 40; i++) {
		if (scanf("%d", &number) == 1)
			sum += number;
		if (fgets(line, sizeof line, stdin) != NULL)
			sum += (int)strlen(line);
		sum += getchar();
	}
	return sum;
}

int main(int argc, char **argv)
{
	int rank, size, step = 0, steps = atoi(argv[1]), pause = atoi(argv[2]), restored = 0, restores = 0;
	double sums[4] = {0}, *out = calloc(LARGE, sizeof *out), *in = calloc(LARGE, sizeof *in);
	setvbuf(stdout, buffer, _IOFBF, sizeof buffer);
	CHECK(MPI_Init(&argc, &argv));
	CHECK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	CHECK(MPI_Comm_size(MPI_COMM_WORLD, &size));
	int right = (rank + 1) % size, left = (rank + size - 1) % size;

	/* A replacement replays what comes before the first safe point: a sum, a message from any
	   source, one to the rank itself, and one that doesn't fit. */
	MPI_Comm dup, half;
	MPI_Datatype pair;
	CHECK(MPI_Comm_dup(MPI_COMM_WORLD, &dup));
	CHECK(MPI_Comm_split(dup, rank % 2, -rank, &half));
	CHECK(MPI_Type_contiguous(2, MPI_DOUBLE, &pair));
	CHECK(MPI_Type_commit(&pair));
	double before[2] = {rank, 1}, after[2];
	CHECK(MPI_Allreduce(before, after, 2, MPI_DOUBLE, MPI_SUM, dup));
	CHECK(MPI_Send(before, 1, pair, right, 5, MPI_COMM_WORLD));
	CHECK(MPI_Send(after, 1, pair, rank, 6, MPI_COMM_WORLD));
	for (int i = 0; i < 2; i++) {
		MPI_Status status;
		CHECK(MPI_Recv(before, 1, pair, MPI_ANY_SOURCE, 5 + i, MPI_COMM_WORLD, &status));
		sums[0] += before[0] + status.MPI_SOURCE;
	}
	if (rank == 0)
		sums[0] += taken(3);
	printf("rank %d begins with %g\n", rank, sums[0]);

	MPI_Request exchange[2];
	CHECK(MPI_Send_init(out, LARGE, MPI_DOUBLE, right, 1, dup, &exchange[0]));
	CHECK(MPI_Recv_init(in, LARGE, MPI_DOUBLE, left, 1, dup, &exchange[1]));
	CHECK(MPIX_State_register("step", &step, 1, MPI_INT));
	CHECK(MPIX_State_register("sums", sums, 2, pair));
	CHECK(MPIX_State_register("restores", &restores, 1, MPI_INT));
	for (; step < steps; step++) {
		CHECK(MPIX_Safepoint(&restored));
		restores += restored;
		if (rank == 0)
			sums[0] += taken(step);
		/* One message is always on its way, or has arrived and isn't received. */
		double ahead[2] = {step, sums[0]};
		CHECK(MPI_Send(ahead, 1, pair, right, 2, MPI_COMM_WORLD));
		if (step > 0) {
			CHECK(MPI_Recv(ahead, 1, pair, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
			sums[0] = sums[0] / 2 + ahead[0] + ahead[1] / 4;
		}
		out[step % LARGE] = sums[0];
		CHECK(MPI_Startall(2, exchange));
		double total;
		MPI_Request reduction;
		CHECK(MPI_Iallreduce(&sums[0], &total, 1, MPI_DOUBLE, MPI_SUM, half, &reduction));
		CHECK(MPI_Wait(&reduction, MPI_STATUS_IGNORE));
		CHECK(MPI_Waitall(2, exchange, MPI_STATUSES_IGNORE));
		sums[1] += total;
		sums[2] += in[step % LARGE];
		sums[3] = 31 * sums[3] / 32 + sums[2];
		if (step % 20 == 0)
			printf("rank %d step %d: %.17g %.17g %.17g\n", rank, step, sums[0], sums[1], sums[3]);
		if (pause > 0)
			usleep(pause);
	}
	double last[2];
	CHECK(MPI_Recv(last, 1, pair, left, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	MPI_Comm again;
	CHECK(MPI_Comm_dup(half, &again));
	CHECK(MPI_Allreduce(MPI_IN_PLACE, last, 2, MPI_DOUBLE, MPI_SUM, again));
	printf("rank %d ends with %.17g %.17g\n", rank, last[0], last[1]);
	if (restores > 0)
		fprintf(stderr, "restored\n");
	CHECK(MPI_Finalize());
	return 0;
}
