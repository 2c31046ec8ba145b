/* A program for VeloC's interface. Its ranks pass sums around a ring, and keep checkpoints in one of
   these ways: "mem", "phases" (one part of the memory is known only when it is recovered), "file". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <veloc.h>

#define OK(call)                                                               \
	do {                                                                   \
		if ((call) != VELOC_SUCCESS) {                                 \
			fprintf(stderr, "line %d: " #call "\n", __LINE__);     \
			MPI_Abort(MPI_COMM_WORLD, 1);                          \
		}                                                              \
	} while (0)

enum { EVERY = 4, FEW = 1000 };

static int step, rank, size, cells;
static double *field, sum;

static void save_file(void)
{
	char name[VELOC_MAX_NAME];
	OK(VELOC_Checkpoint_wait());
	OK(VELOC_Checkpoint_begin("ring", step));
	OK(VELOC_Route_file("ring.dat", name));
	FILE *f = fopen(name, "wb");
	int good = f && fwrite(&step, sizeof step, 1, f) == 1 && fwrite(&sum, sizeof sum, 1, f) == 1 &&
		fwrite(field, sizeof *field, (size_t)cells, f) == (size_t)cells && fclose(f) == 0;
	OK(VELOC_Checkpoint_end(good));
}

static void load_file(int version)
{
	char name[VELOC_MAX_NAME];
	OK(VELOC_Restart_begin("ring", version));
	OK(VELOC_Route_file("ring.dat", name));
	FILE *f = fopen(name, "rb");
	int good = f && fread(&step, sizeof step, 1, f) == 1 && fread(&sum, sizeof sum, 1, f) == 1 &&
		fread(field, sizeof *field, (size_t)cells, f) == (size_t)cells && fgetc(f) == EOF && fclose(f) == 0;
	OK(VELOC_Restart_end(good));
}

int main(int argc, char **argv)
{
	int steps = atoi(argv[1]), pause = atoi(argv[2]);
	const char *way = argv[3];
	MPI_Init(&argc, &argv);
	OK(VELOC_Init(MPI_COMM_WORLD, "there is no such file"));
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	cells = FEW + 37 * rank; /* ranks may protect different amounts */
	field = calloc((size_t)cells, sizeof *field);
	for (int i = 0; i < cells; i++)
		field[i] = i + rank;
	sum = rank;
	step = 1;
	int phases = strcmp(way, "phases") == 0, file = strcmp(way, "file") == 0;
	OK(VELOC_Mem_protect(-7, &cells, 1, sizeof cells));
	OK(VELOC_Mem_protect(1, &step, 1, sizeof step));
	OK(VELOC_Mem_protect(2, &sum, 1, sizeof sum));
	OK(VELOC_Mem_protect(4, &pause, 1, sizeof pause));
	OK(VELOC_Mem_unprotect(4));
	if (!phases)
		OK(VELOC_Mem_protect(3, field, (size_t)cells, sizeof *field));
	int version = VELOC_Restart_test("ring", 0);
	if (VELOC_Restart_test("another", 0) > 0)
		MPI_Abort(MPI_COMM_WORLD, 2);
	if (version > 0) {
		fprintf(stderr, "rank %d restarts from %d\n", rank, version);
		if (VELOC_Restart_test("ring", version) > 0)
			MPI_Abort(MPI_COMM_WORLD, 3);
		if (file) {
			load_file(version);
		} else if (phases) {
			int known[] = {-7, 1};
			OK(VELOC_Restart_begin("ring", version));
			cells = 0;
			OK(VELOC_Recover_selective(VELOC_RECOVER_SOME, known, 2));
			if (VELOC_Recover_size(3) != (int)(cells * sizeof *field))
				MPI_Abort(MPI_COMM_WORLD, 4);
			free(field);
			field = calloc((size_t)cells, sizeof *field);
			OK(VELOC_Mem_protect(3, field, (size_t)cells, sizeof *field));
			OK(VELOC_Recover_selective(VELOC_RECOVER_REST, known, 2));
			OK(VELOC_Restart_end(1));
		} else {
			OK(VELOC_Restart("ring", version));
		}
		if (step != version)
			MPI_Abort(MPI_COMM_WORLD, 5);
	} else if (phases) {
		OK(VELOC_Mem_protect(3, field, (size_t)cells, sizeof *field));
	}
	for (; step <= steps; step++) {
		if (step % EVERY == 0) {
			if (file)
				save_file();
			else
				OK(VELOC_Checkpoint("ring", step));
		}
		double from;
		MPI_Sendrecv(&sum, 1, MPI_DOUBLE, (rank + 1) % size, 3, &from, 1, MPI_DOUBLE, (rank + size - 1) % size, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		for (int i = 0; i < cells; i++)
			field[i] = field[i] / 2 + from / (i + 1);
		sum = field[step % cells] + field[cells - 1];
		if (step % 25 == 0)
			printf("rank %d step %d: %.17g\n", rank, step, sum);
		if (pause > 0)
			usleep((useconds_t)pause);
	}
	printf("rank %d ends with %.17g\n", rank, sum);
	OK(VELOC_Finalize(1));
	MPI_Finalize();
	return 0;
}
