/* Two models that run as jobs of their own and exchange what meets at their border: an ocean, which is
   a server that waits for models, and an atmosphere, which connects to it. Both have one row of cells,
   in parts of any number of ranks.

       mpiexec -n 2 ./coupled ocean &
       mpiexec -n 3 ./coupled atmosphere 50

   The ocean is warm on the left and cold on the right, and the air the other way round. In each step
   heat flows between the two: both tell the other one the temperatures of all their cells, through
   their rank 0, by a broadcast across. The sum of the heat stays. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { CELLS = 120 };

static int rank, size;

/* exchange leaves the other model's row in theirs. */
static void exchange(MPI_Comm other, const double *mine, int count, double *row, double *theirs, int ocean)
{
	int counts[CELLS], starts[CELLS];
	for (int r = 0, at = 0; r < size; at += counts[r++]) {
		counts[r] = (r + 1) * CELLS / size - r * CELLS / size;
		starts[r] = at;
	}
	MPI_Gatherv(mine, count, MPI_DOUBLE, row, counts, starts, MPI_DOUBLE, 0, MPI_COMM_WORLD);
	int give = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
	for (int turn = 0; turn < 2; turn++) /* first the ocean speaks, then the atmosphere */
		if (turn == !ocean)
			MPI_Bcast(row, CELLS, MPI_DOUBLE, give, other);
		else
			MPI_Bcast(theirs, CELLS, MPI_DOUBLE, 0, other);
}

static void run(MPI_Comm other, int ocean, int steps)
{
	int first = rank * CELLS / size, count = (rank + 1) * CELLS / size - first;
	double mine[CELLS], row[CELLS], theirs[CELLS], heat, all;
	for (int i = 0; i < count; i++)
		mine[i] = ocean ? 20.0 - 0.1 * (first + i) : 8.0 + 0.1 * (first + i);
	for (int s = 0; s < steps; s++) {
		exchange(other, mine, count, row, theirs, ocean);
		for (int i = 0; i < count; i++)
			mine[i] += 0.1 * (theirs[first + i] - mine[i]);
	}
	heat = 0;
	for (int i = 0; i < count; i++)
		heat += mine[i];
	MPI_Reduce(&heat, &all, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
	if (rank == 0)
		printf("%s: %d steps with %d cells, mean temperature %.3f\n", ocean ? "ocean" : "atmosphere", steps, CELLS, all / CELLS);
}

int main(int argc, char **argv)
{
	char port[MPI_MAX_PORT_NAME] = "";
	MPI_Comm other;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	int ocean = argc > 1 && strcmp(argv[1], "ocean") == 0, steps = argc > 2 ? atoi(argv[2]) : 10;
	const char *name = getenv("COUPLED") ? getenv("COUPLED") : "coupled ocean";
	if (size > CELLS || argc < 2) {
		fprintf(stderr, "usage: coupled ocean | coupled atmosphere [STEPS]\n");
		MPI_Abort(MPI_COMM_WORLD, 2);
	}
	if (ocean) {
		if (rank == 0) {
			MPI_Open_port(MPI_INFO_NULL, port);
			MPI_Publish_name(name, MPI_INFO_NULL, port);
		}
		MPI_Comm_accept(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
		MPI_Bcast(&steps, 1, MPI_INT, 0, other); /* the atmosphere says how many */
	} else {
		MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
		while (rank == 0 && MPI_Lookup_name(name, MPI_INFO_NULL, port) != MPI_SUCCESS)
			usleep(10000); /* until there is an ocean */
		MPI_Comm_connect(port, MPI_INFO_NULL, 0, MPI_COMM_WORLD, &other);
		MPI_Bcast(&steps, 1, MPI_INT, rank == 0 ? MPI_ROOT : MPI_PROC_NULL, other);
	}
	run(other, ocean, steps);
	MPI_Comm_disconnect(&other);
	if (ocean && rank == 0) {
		MPI_Unpublish_name(name, MPI_INFO_NULL, port);
		MPI_Close_port(port);
	}
	MPI_Finalize();
	return 0;
}
