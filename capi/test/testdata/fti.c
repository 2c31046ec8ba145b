/* A program for FTI's interface. Its ranks pass sums around a ring, and keep checkpoints in one of these
   ways: "snapshot", "checkpoint", "icp" (piece by piece), "grows" (memory whose size changes). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <fti.h>

#define OK(call)                                                           \
	do {                                                               \
		if ((call) < FTI_SCES) {                                   \
			fprintf(stderr, "line %d: " #call "\n", __LINE__); \
			MPI_Abort(MPI_COMM_WORLD, 1);                      \
		}                                                          \
	} while (0)

typedef struct {
	double sum;
	int steps;
} progress;

int main(int argc, char **argv)
{
	int steps = atoi(argv[1]), pause = atoi(argv[2]), rank, size, cells = 500, step = 1;
	const char *way = argv[3];
	MPI_Init(&argc, &argv);
	OK(FTI_Init("there is no such file", MPI_COMM_WORLD));
	MPI_Comm_rank(FTI_COMM_WORLD, &rank);
	MPI_Comm_size(FTI_COMM_WORLD, &size);
	int snapshot = strcmp(way, "snapshot") == 0, icp = strcmp(way, "icp") == 0, grows = strcmp(way, "grows") == 0;
	double *field = calloc((size_t)cells, sizeof *field);
	progress all = {rank, 0};
	FTIT_type kind;
	OK(FTI_InitType(&kind, sizeof(progress)));
	OK(FTI_Protect(0, &step, 1, FTI_INTG));
	OK(FTI_Protect(1, &all, 1, kind));
	OK(FTI_Protect(2, field, cells, FTI_DBLE));
	int named = FTI_setIDFromString("cells");
	if (named != FTI_getIDFromString("cells"))
		MPI_Abort(MPI_COMM_WORLD, 2);
	OK(FTI_Protect(named, &cells, 1, FTI_INTG));
	if (!snapshot && FTI_Status() != 0) {
		fprintf(stderr, "rank %d restarts\n", rank);
		if (grows) {
			OK(FTI_RecoverVar(named));
			if (FTI_GetStoredSize(2) != (long)(cells * sizeof *field) || !(field = FTI_Realloc(2, field)))
				MPI_Abort(MPI_COMM_WORLD, 3);
		}
		OK(FTI_Recover());
		if (FTI_Status() != 0)
			MPI_Abort(MPI_COMM_WORLD, 4);
	}
	for (; step <= steps; step++) {
		if (snapshot) {
			OK(FTI_Snapshot());
		} else if (icp && step % 4 == 0) {
			OK(FTI_InitICP(step, FTI_L4, 1));
			OK(FTI_AddVarICP(0));
			OK(FTI_AddVarICP(1));
			OK(FTI_AddVarICP(2));
			OK(FTI_FinalizeICP());
		} else if (step % 4 == 0 && FTI_Checkpoint(step, FTI_L1) != FTI_DONE) {
			MPI_Abort(MPI_COMM_WORLD, 5);
		}
		if (grows && step % 100 == 50) {
			double *more = realloc(field, (size_t)(cells + 300) * sizeof *field);
			field = more;
			memset(field + cells, 0, 300 * sizeof *field);
			cells += 300;
			OK(FTI_Protect(2, field, cells, FTI_DBLE));
		}
		double from;
		MPI_Sendrecv(&all.sum, 1, MPI_DOUBLE, (rank + 1) % size, 3, &from, 1, MPI_DOUBLE, (rank + size - 1) % size, 3, FTI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (int i = 0; i < cells; i++)
			field[i] = field[i] / 2 + from / (i + 1) + 1;
		all.sum = field[step % cells] + field[cells - 1] / 3;
		all.steps++;
		if (step % 25 == 0)
			printf("rank %d step %d: %.17g %d\n", rank, step, all.sum, all.steps);
		if (pause > 0)
			usleep((useconds_t)pause);
	}
	printf("rank %d ends with %.17g\n", rank, all.sum);
	OK(FTI_Finalize());
	MPI_Finalize();
	return 0;
}
