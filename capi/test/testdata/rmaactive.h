// rmaactive.h: epochs in which the targets take part.
#include <complex.h>
#include <stddef.h>

#include "rmawindow.h"

// Each rank puts to its right neighbour and gets from its left one.
static void fences(void)
{
	int right = (rank + 1) % size, left = (rank + size - 1) % size;
	double give[8], take[8], all[elements / 2];
	for (int i = 0; i < 8; i++) {
		give[i] = 100 * rank + i;
		memory[100 + i] = 7 * rank + i;
		take[i] = -1;
	}
	OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, win));
	OK(MPI_Put(give, 8, MPI_DOUBLE, right, disp(right, 10), 8, MPI_DOUBLE, win));
	OK(MPI_Get(take, 8, MPI_DOUBLE, left, disp(left, 100), 8, MPI_DOUBLE, win));
	OK(MPI_Put(give, 8, MPI_DOUBLE, MPI_PROC_NULL, 0, 8, MPI_DOUBLE, win));
	OK(MPI_Win_fence(0, win));
	for (int i = 0; i < 8; i++)
		CHECK(memory[10 + i] == 100 * left + i && take[i] == 7 * left + i);
	for (int i = 0; i < elements / 2; i++)
		all[i] = rank + i;
	OK(MPI_Win_fence(0, win));
	OK(MPI_Put(all, elements / 2, MPI_DOUBLE, right, disp(right, elements / 2), elements / 2, MPI_DOUBLE, win));
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	int wrong = 0;
	for (int i = 0; i < elements / 2; i++)
		wrong += memory[elements / 2 + i] != left + i;
	CHECK(wrong == 0);
}

// Datatypes at both sides: a column of the origin becomes every third element of the target, and a
// struct with an integer and a double is fetched.
static void types(void)
{
	struct both { int n; double x; } give[4], take[4];
	double matrix[6][5], column[6];
	MPI_Datatype col, third, pair, many;
	int right = (rank + 1) % size, lengths[] = {1, 1};
	MPI_Aint at[] = {0, offsetof(struct both, x)};
	MPI_Datatype kinds[] = {MPI_INT, MPI_DOUBLE};
	OK(MPI_Type_vector(6, 1, 5, MPI_DOUBLE, &col));
	OK(MPI_Type_vector(2, 1, 3, MPI_DOUBLE, &third));
	OK(MPI_Type_create_resized(third, 0, 6 * sizeof(double), &many));
	OK(MPI_Type_create_struct(2, lengths, at, kinds, &pair));
	OK(MPI_Type_commit(&col));
	OK(MPI_Type_commit(&many));
	OK(MPI_Type_commit(&pair));
	for (int i = 0; i < 6; i++)
		for (int j = 0; j < 5; j++)
			matrix[i][j] = 1000 * rank + 10 * i + j;
	for (int i = 0; i < 4; i++)
		give[i].n = rank + i, give[i].x = i / 2.0;
	OK(MPI_Win_fence(0, win));
	OK(MPI_Put(&matrix[0][2], 1, col, right, disp(right, 200), 3, many, win));
	OK(MPI_Put(give, 4, pair, right, disp(right, 300), 4, pair, win));
	OK(MPI_Win_fence(0, win));
	OK(MPI_Get(column, 6, MPI_DOUBLE, right, disp(right, 200), 3, many, win));
	OK(MPI_Get(take, 4, pair, right, disp(right, 300), 4, pair, win));
	OK(MPI_Win_fence(0, win));
	int left = (rank + size - 1) % size, wrong = 0;
	for (int i = 0; i < 6; i++) {
		wrong += memory[200 + 3 * i] != 1000 * left + 10 * i + 2;
		wrong += column[i] != 1000 * rank + 10 * i + 2;
		wrong += memory[201 + 3 * i] != 0;
	}
	for (int i = 0; i < 4; i++)
		wrong += take[i].n != rank + i || take[i].x != i / 2.0;
	CHECK(wrong == 0);
	OK(MPI_Win_fence(0, win)); // none gets any more
	for (int i = 200; i < 310; i++)
		memory[i] = 0;
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	OK(MPI_Type_free(&col));
	OK(MPI_Type_free(&third));
	OK(MPI_Type_free(&many));
	OK(MPI_Type_free(&pair));
}

// Sums of all ranks at rank 0, of types with atomic instructions and of such without.
static void sums(void)
{
	int64_t *longs = (int64_t *)memory;
	int n = 10, wrong = 0;
	double ones[10];
	double complex c = 1 + 2 * I;
	long double l = 0.5L;
	char small[5] = {1, 2, 3, 4, 5};
	struct { double x; int at; } far = {rank, rank};
	int64_t word = 1 + rank;
	for (int i = 0; i < n; i++)
		ones[i] = i;
	OK(MPI_Win_fence(0, win));
	OK(MPI_Accumulate(ones, n, MPI_DOUBLE, 0, disp(0, 400), n, MPI_DOUBLE, MPI_SUM, win));
	OK(MPI_Accumulate(&c, 1, MPI_C_DOUBLE_COMPLEX, 0, disp(0, 420), 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, win));
	OK(MPI_Accumulate(&l, 1, MPI_LONG_DOUBLE, 0, disp(0, 430), 1, MPI_LONG_DOUBLE, MPI_SUM, win));
	OK(MPI_Accumulate(small, 5, MPI_CHAR, 0, disp(0, 440), 5, MPI_CHAR, MPI_SUM, win));
	OK(MPI_Accumulate(&far, 1, MPI_DOUBLE_INT, 0, disp(0, 450), 1, MPI_DOUBLE_INT, MPI_MAXLOC, win));
	OK(MPI_Accumulate(&word, 1, MPI_INT64_T, 0, disp(0, 460), 1, MPI_INT64_T, MPI_BOR, win));
	OK(MPI_Accumulate(&word, 1, MPI_INT64_T, size - 1, disp(size - 1, 470 + rank), 1, MPI_INT64_T, MPI_REPLACE, win));
	OK(MPI_Win_fence(0, win));
	if (rank == 0) {
		for (int i = 0; i < n; i++)
			wrong += memory[400 + i] != (double)i * size;
		wrong += *(double complex *)(memory + 420) != size * (1 + 2 * I);
		wrong += *(long double *)(memory + 430) != size * 0.5L;
		for (int i = 0; i < 5; i++)
			wrong += ((char *)(memory + 440))[i] != (char)(size * (i + 1));
		wrong += memory[450] != size - 1 || (size > 1 && *(int *)(memory + 451) != size - 1);
		int64_t bits = 0;
		for (int r = 0; r < size; r++)
			bits |= 1 + r;
		wrong += longs[460] != bits;
	}
	if (rank == size - 1)
		for (int r = 0; r < size; r++)
			wrong += longs[470 + r] != 1 + r;
	CHECK(wrong == 0);
	OK(MPI_Win_fence(0, win));
	for (int i = 400; i < 500; i++)
		memory[i] = 0;
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
}

// Even ranks access the parts of their odd neighbours, and of themselves.
static void active(int replicas)
{
	MPI_Group world, group;
	int flag = 0, n = 0, ranks[3];
	double give = rank + 1, take = -1;
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	if (rank % 2 == 0) { // origin and target
		ranks[n++] = rank;
		if (rank + 1 < size)
			ranks[n++] = rank + 1;
	} else {
		ranks[n++] = rank - 1;
	}
	OK(MPI_Group_incl(world, n, ranks, &group));
	for (int round = 0; round < 10; round++) {
		if (rank % 2 == 0) {
			MPI_Group self;
			OK(MPI_Group_incl(world, 1, &rank, &self));
			OK(MPI_Win_post(self, 0, win));
			OK(MPI_Win_start(group, 0, win));
			for (int i = 0; i < n; i++) {
				OK(MPI_Put(&give, 1, MPI_DOUBLE, ranks[i], disp(ranks[i], 1600 + round), 1, MPI_DOUBLE, win));
				OK(MPI_Accumulate(&give, 1, MPI_DOUBLE, ranks[i], disp(ranks[i], 1620), 1, MPI_DOUBLE, MPI_SUM, win));
			}
			if (!replicas && n > 1)
				OK(MPI_Get(&take, 1, MPI_DOUBLE, ranks[1], disp(ranks[1], 1640), 1, MPI_DOUBLE, win));
			OK(MPI_Win_complete(win));
			OK(MPI_Win_wait(win));
			OK(MPI_Group_free(&self));
			CHECK(memory[1600 + round] == rank + 1);
			if (!replicas && n > 1)
				CHECK(take == 10 * (rank + 1) + round);
		} else {
			memory[1640] = 10 * rank + round;
			OK(MPI_Win_post(group, MPI_MODE_NOCHECK, win));
			if (round % 2 || replicas)
				OK(MPI_Win_wait(win));
			else
				for (flag = 0; !flag;)
					OK(MPI_Win_test(win, &flag));
			CHECK(memory[1600 + round] == rank);
		}
	}
	CHECK(memory[1620] == (rank % 2 ? 10 * rank : 10 * (rank + 1)));
	OK(MPI_Group_free(&group));
	OK(MPI_Group_free(&world));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	for (int i = 1600; i < 1650; i++)
		memory[i] = 0;
	OK(MPI_Barrier(MPI_COMM_WORLD));
}
