// rma tests one-sided communication. Its first argument names what it does; without one it checks
// all that goes well, on windows of each kind.
#include <mpi.h>
#include <mpi-ext.h>

#include <complex.h>
#include <stddef.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static int rank, size;

enum { elements = 4096 };
static MPI_Aint place[1024]; // of each rank's part, in dynamic windows

static double *memory; // this rank's part
static int flavor;
static MPI_Win win;

static MPI_Aint disp(int target, MPI_Aint element)
{
	return flavor == MPI_WIN_FLAVOR_DYNAMIC ? place[target] + element * (MPI_Aint)sizeof(double) : element;
}

static void make(int kind)
{
	MPI_Aint bytes = elements * sizeof(double), here;
	flavor = kind;
	switch (kind) {
	case MPI_WIN_FLAVOR_ALLOCATE:
		OK(MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
		break;
	case MPI_WIN_FLAVOR_CREATE:
		memory = calloc(elements, sizeof(double));
		OK(MPI_Win_create(memory, bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
		break;
	case MPI_WIN_FLAVOR_DYNAMIC:
		memory = calloc(elements, sizeof(double));
		OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
		OK(MPI_Win_attach(win, memory, bytes));
		OK(MPI_Get_address(memory, &here));
		OK(MPI_Allgather(&here, 1, MPI_AINT, place, 1, MPI_AINT, MPI_COMM_WORLD));
		break;
	}
	for (int i = 0; i < elements; i++)
		memory[i] = 0;
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void done(void)
{
	if (flavor == MPI_WIN_FLAVOR_DYNAMIC) {
		OK(MPI_Barrier(MPI_COMM_WORLD));
		OK(MPI_Win_detach(win, memory));
	}
	OK(MPI_Win_free(&win));
	if (flavor != MPI_WIN_FLAVOR_ALLOCATE)
		free(memory);
}

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

// A counter that all fetch and add to under shared locks, a lock made of compare and swap, and a list
// of results that are each another.
static void atomics(void)
{
	enum { rounds = 300 };
	int64_t one = 1, was, sum = 0, all = 0, zero = 0, mine = rank + 1;
	OK(MPI_Win_lock_all(0, win));
	for (int i = 0; i < rounds; i++) {
		OK(MPI_Fetch_and_op(&one, &was, MPI_INT64_T, size - 1, disp(size - 1, 500), MPI_SUM, win));
		OK(MPI_Win_flush(size - 1, win));
		sum += was;
	}
	OK(MPI_Allreduce(&sum, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD));
	int64_t n = (int64_t)rounds * size;
	CHECK(all == n * (n - 1) / 2);
	OK(MPI_Fetch_and_op(NULL, &was, MPI_INT64_T, size - 1, disp(size - 1, 500), MPI_NO_OP, win));
	OK(MPI_Win_flush_local(size - 1, win));
	CHECK(was == n);
	for (int i = 0; i < 20; i++) {
		do {
			OK(MPI_Compare_and_swap(&mine, &zero, &was, MPI_INT64_T, 0, disp(0, 501), win));
			OK(MPI_Win_flush(0, win));
		} while (was != 0);
		double x, y;
		OK(MPI_Get(&x, 1, MPI_DOUBLE, 0, disp(0, 502), 1, MPI_DOUBLE, win));
		OK(MPI_Win_flush(0, win));
		y = x + 1;
		OK(MPI_Put(&y, 1, MPI_DOUBLE, 0, disp(0, 502), 1, MPI_DOUBLE, win));
		OK(MPI_Win_flush(0, win));
		OK(MPI_Compare_and_swap(&zero, &mine, &was, MPI_INT64_T, 0, disp(0, 501), win));
		OK(MPI_Win_flush_all(win));
		CHECK(was == mine);
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Win_sync(win));
	if (rank == 0)
		CHECK(memory[502] == 20.0 * size);
	double complex c = 1, before[2];
	OK(MPI_Get_accumulate(&c, 1, MPI_C_DOUBLE_COMPLEX, before, 1, MPI_C_DOUBLE_COMPLEX, 0, disp(0, 510), 1, MPI_C_DOUBLE_COMPLEX, MPI_SUM, win));
	int ten[10], tens[10], seen = 0;
	for (int i = 0; i < 10; i++)
		ten[i] = 1;
	OK(MPI_Get_accumulate(ten, 10, MPI_INT, tens, 10, MPI_INT, 0, disp(0, 520), 10, MPI_INT, MPI_SUM, win));
	OK(MPI_Win_flush_local_all(win));
	for (int i = 0; i < 10; i++)
		seen += tens[i] < 0 || tens[i] >= size;
	CHECK(creal(before[0]) >= 0 && creal(before[0]) < size && seen == 0);
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	if (rank == 0) {
		CHECK(*(double complex *)(memory + 510) == size && ((int *)(memory + 520))[9] == size);
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	for (int i = 500; i < 530; i++)
		memory[i] = 0;
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

// What isn't atomic is added up under exclusive locks.
static void locks(void)
{
	enum { rounds = 100 };
	for (int i = 0; i < rounds; i++) {
		double x;
		int target = i % size;
		OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, target, 0, win));
		OK(MPI_Get(&x, 1, MPI_DOUBLE, target, disp(target, 600), 1, MPI_DOUBLE, win));
		OK(MPI_Win_flush(target, win));
		x += 1;
		OK(MPI_Put(&x, 1, MPI_DOUBLE, target, disp(target, 600), 1, MPI_DOUBLE, win));
		OK(MPI_Win_unlock(target, win));
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	double x, want = 0;
	OK(MPI_Win_lock(MPI_LOCK_SHARED, rank, 0, win));
	OK(MPI_Get(&x, 1, MPI_DOUBLE, rank, disp(rank, 600), 1, MPI_DOUBLE, win));
	OK(MPI_Win_unlock(rank, win));
	for (int i = 0; i < rounds; i++)
		want += i % size == rank ? size : 0;
	CHECK(x == want);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	memory[600] = 0;
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

// Requests: the buffers are free, or filled, when they have ended.
static void requests(void)
{
	double give[600], take[600], was[3], add[3] = {1, 2, 3};
	MPI_Request r[4];
	MPI_Status s;
	int right = (rank + 1) % size;
	OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, win));
	for (int i = 0; i < 600; i++)
		give[i] = rank + i, take[i] = -1;
	OK(MPI_Rput(give, 600, MPI_DOUBLE, right, disp(right, 700), 600, MPI_DOUBLE, win, &r[0]));
	OK(MPI_Wait(&r[0], &s));
	CHECK(r[0] == MPI_REQUEST_NULL);
	memset(give, 0, sizeof give);
	OK(MPI_Win_flush(right, win));
	OK(MPI_Rget(take, 600, MPI_DOUBLE, right, disp(right, 700), 600, MPI_DOUBLE, win, &r[0]));
	OK(MPI_Raccumulate(add, 3, MPI_DOUBLE, right, disp(right, 1400), 3, MPI_DOUBLE, MPI_SUM, win, &r[1]));
	OK(MPI_Rget_accumulate(add, 3, MPI_DOUBLE, was, 3, MPI_DOUBLE, right, disp(right, 1400), 3, MPI_DOUBLE, MPI_SUM, win, &r[2]));
	OK(MPI_Rget(take, 600, MPI_DOUBLE, MPI_PROC_NULL, 0, 600, MPI_DOUBLE, win, &r[3]));
	OK(MPI_Waitall(4, r, MPI_STATUSES_IGNORE));
	int wrong = 0;
	for (int i = 0; i < 600; i++)
		wrong += take[i] != rank + i;
	for (int i = 0; i < 3; i++)
		wrong += was[i] != i + 1;
	CHECK(wrong == 0);
	OK(MPI_Rget(take, 600, MPI_DOUBLE, right, disp(right, 1400), 600, MPI_DOUBLE, win, &r[0]));
	OK(MPI_Win_flush(right, win)); // ends it as well
	CHECK(take[0] == 2 && take[2] == 6);
	OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
	OK(MPI_Win_unlock_all(win));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	for (int i = 700; i < 1500; i++)
		memory[i] = 0;
	OK(MPI_Barrier(MPI_COMM_WORLD));
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

// The target computes, and calls nothing, until all that the origins do is there.
static void passive(void)
{
	int n = 50;
	if (rank == 0) {
		double start = MPI_Wtime();
		volatile double *sum = memory + 1700;
		while (*sum < (double)n * (size - 1) && MPI_Wtime() - start < 20)
			;
		CHECK(*sum == (double)n * (size - 1));
	} else {
		OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
		for (int i = 0; i < n; i++) {
			double one = 1;
			OK(MPI_Accumulate(&one, 1, MPI_DOUBLE, 0, disp(0, 1700), 1, MPI_DOUBLE, MPI_SUM, win));
			OK(MPI_Win_flush(0, win));
		}
		OK(MPI_Win_unlock(0, win));
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	memory[1700] = 0;
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

#define FAILS(class, call)                                  \
	do {                                                \
		int code_ = (call), class_;                 \
		MPI_Error_class(code_, &class_);            \
		CHECK(class_ == (class));                   \
	} while (0)

static void mistakes(void)
{
	double x = 0, y[2];
	int n = 1;
	MPI_Request r;
	MPI_Datatype mixed;
	MPI_Group world;
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Put(&x, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_complete(win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_wait(win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_test(win, &n));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_flush(0, win));
	OK(MPI_Win_lock_all(0, win));
	FAILS(MPI_ERR_RANK, MPI_Put(&x, 1, MPI_DOUBLE, size, disp(0, 0), 1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_RANK, MPI_Get(&x, 1, MPI_DOUBLE, -7, disp(0, 0), 1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_COUNT, MPI_Put(&x, 1, MPI_DOUBLE, 0, disp(0, 0), -1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_COUNT, MPI_Put(&x, -1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_TYPE, MPI_Put(&x, 1, MPI_DATATYPE_NULL, 0, disp(0, 0), 1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_TYPE, MPI_Put(&x, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DATATYPE_NULL, win));
	FAILS(MPI_ERR_BUFFER, MPI_Put(NULL, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_ARG, MPI_Put(y, 2, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_TRUNCATE, MPI_Get(y, 1, MPI_DOUBLE, 0, disp(0, 0), 2, MPI_DOUBLE, win));
	FAILS(MPI_ERR_OP, MPI_Accumulate(&x, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, MPI_BAND, win));
	FAILS(MPI_ERR_OP, MPI_Accumulate(&x, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, MPI_NO_OP, win));
	FAILS(MPI_ERR_OP, MPI_Accumulate(&x, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_DOUBLE, MPI_OP_NULL, win));
	FAILS(MPI_ERR_TYPE, MPI_Accumulate(&x, 1, MPI_DOUBLE, 0, disp(0, 0), 1, MPI_INT64_T, MPI_SUM, win));
	FAILS(MPI_ERR_TYPE, MPI_Compare_and_swap(&x, &x, &x, MPI_DOUBLE, 0, disp(0, 0), win));
	int lengths[] = {1, 1};
	MPI_Aint at[] = {0, 8};
	MPI_Datatype kinds[] = {MPI_INT, MPI_DOUBLE};
	OK(MPI_Type_create_struct(2, lengths, at, kinds, &mixed));
	FAILS(MPI_ERR_TYPE, MPI_Put(y, 1, mixed, 0, disp(0, 0), 1, mixed, win)); // not committed
	OK(MPI_Type_commit(&mixed));
	FAILS(MPI_ERR_TYPE, MPI_Accumulate(y, 1, mixed, 0, disp(0, 0), 1, mixed, MPI_REPLACE, win));
	FAILS(MPI_ERR_TYPE, MPI_Fetch_and_op(y, y, mixed, 0, disp(0, 0), MPI_REPLACE, win));
	OK(MPI_Type_free(&mixed));
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
	FAILS(MPI_ERR_WIN, MPI_Put(&x, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_WIN_NULL));
	FAILS(MPI_ERR_GROUP, MPI_Win_post(MPI_GROUP_NULL, 0, win));
	OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
	if (flavor != MPI_WIN_FLAVOR_DYNAMIC) {
		FAILS(MPI_ERR_DISP, MPI_Put(&x, 1, MPI_DOUBLE, 0, -1, 1, MPI_DOUBLE, win));
		FAILS(MPI_ERR_RMA_RANGE, MPI_Put(&x, 1, MPI_DOUBLE, size - 1, elements, 1, MPI_DOUBLE, win));
		FAILS(MPI_ERR_RMA_RANGE, MPI_Get(y, 2, MPI_DOUBLE, 0, elements - 1, 2, MPI_DOUBLE, win));
		FAILS(MPI_ERR_RMA_RANGE, MPI_Rget(y, 1, MPI_DOUBLE, 0, (MPI_Aint)1 << 60, 1, MPI_DOUBLE, win, &r));
		CHECK(r == MPI_REQUEST_NULL);
		FAILS(MPI_ERR_RMA_FLAVOR, MPI_Win_attach(win, &x, 8));
	} else {
		FAILS(MPI_ERR_RMA_ATTACH, MPI_Win_attach(win, memory + 1, 8));
		FAILS(MPI_ERR_RMA_ATTACH, MPI_Win_detach(win, &x));
		if (size > 1) { // only the target knows what it has attached
			int other = (rank + 1) % size;
			OK(MPI_Put(&x, 1, MPI_DOUBLE, other, disp(other, elements), 1, MPI_DOUBLE, win));
			FAILS(MPI_ERR_RMA_RANGE, MPI_Win_flush(other, win));
			OK(MPI_Get(&x, 1, MPI_DOUBLE, other, disp(other, -1), 1, MPI_DOUBLE, win));
			FAILS(MPI_ERR_RMA_RANGE, MPI_Win_flush(other, win));
		}
		FAILS(MPI_ERR_RMA_RANGE, MPI_Put(&x, 1, MPI_DOUBLE, rank, disp(rank, elements), 1, MPI_DOUBLE, win));
	}
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_free(&win));
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_start(world, 0, win));
	OK(MPI_Win_unlock_all(win));
	FAILS(MPI_ERR_ASSERT, MPI_Win_start(world, MPI_MODE_NOPUT, win));
	OK(MPI_Win_post(world, 0, win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_post(world, 0, win));
	OK(MPI_Win_start(world, 0, win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_fence(0, win));
	OK(MPI_Win_complete(win));
	OK(MPI_Win_wait(win));
	OK(MPI_Win_fence(0, win));
	OK(MPI_Put(&x, 1, MPI_DOUBLE, rank, disp(rank, 0), 1, MPI_DOUBLE, win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, win));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_start(world, 0, win));
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	OK(MPI_Group_free(&world));
	OK(MPI_Win_set_errhandler(win, MPI_ERRORS_ARE_FATAL));
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void hints(void)
{
	MPI_Info info;
	MPI_Win w;
	char value[64];
	int flag;
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "no_locks", "true"));
	OK(MPI_Win_create(NULL, 0, 1, info, MPI_COMM_WORLD, &w));
	OK(MPI_Info_free(&info));
	OK(MPI_Win_get_info(w, &info));
	OK(MPI_Info_get(info, "no_locks", 63, value, &flag));
	CHECK(flag && strcmp(value, "true") == 0);
	OK(MPI_Info_get(info, "accumulate_ordering", 63, value, &flag));
	CHECK(flag && strcmp(value, "rar,raw,war,waw") == 0);
	OK(MPI_Info_get(info, "accumulate_ops", 63, value, &flag));
	CHECK(flag && strcmp(value, "same_op_no_op") == 0);
	OK(MPI_Info_free(&info));
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	FAILS(MPI_ERR_RMA_SYNC, MPI_Win_lock_all(0, w));
	OK(MPI_Win_free(&w));
}

static void all(void)
{
	static const int kinds[] = {MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_DYNAMIC};
	for (int i = 0; i < 3; i++) {
		make(kinds[i]);
		fences();
		types();
		sums();
		atomics();
		locks();
		requests();
		active(0);
		passive();
		mistakes();
		done();
	}
	hints();
}

// What jobs with replicas can do.
static void replicas(void)
{
	static const int kinds[] = {MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_CREATE};
	for (int i = 0; i < 2; i++) {
		make(kinds[i]);
		for (int round = 0; round < 20; round++) {
			fences();
			types();
			sums();
			active(1);
		}
		OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
		FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % size, 0, win));
		OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win)); // its own
		OK(MPI_Win_unlock(rank, win));
		FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_Win_lock_all(0, win));
		done();
	}
	double sum = 0, was, one = rank + 1;
	make(MPI_WIN_FLAVOR_CREATE);
	for (int i = 0; i < 50; i++) { // the order of those that fetch is the ranks'
		OK(MPI_Win_fence(0, win));
		if (rank != 0)
			OK(MPI_Fetch_and_op(&one, &was, MPI_DOUBLE, 0, 0, MPI_SUM, win));
		OK(MPI_Win_fence(0, win));
		if (rank != 0)
			sum = sum / 2 + was;
	}
	OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, win));
	printf("%d: %g\n", rank, sum);
	done();
}

// Rank 1 makes a mistake that ends the job.
static void fatal(const char *what)
{
	double x = 0;
	make(MPI_WIN_FLAVOR_CREATE);
	OK(MPI_Win_set_name(win, "halo"));
	if (strcmp(what, "epoch") != 0)
		OK(MPI_Win_fence(0, win));
	if (rank == 1) {
		if (strcmp(what, "range") == 0)
			MPI_Put(&x, 1, MPI_DOUBLE, 0, elements, 1, MPI_DOUBLE, win);
		else if (strcmp(what, "epoch") == 0)
			MPI_Get(&x, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, win);
		else
			MPI_Put(&x, 1, MPI_DOUBLE, 9, 0, 1, MPI_DOUBLE, win);
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	CHECK(0);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (strcmp(what, "") == 0)
		all();
	else if (strcmp(what, "replicas") == 0)
		replicas();
	else
		fatal(what);
	return END;
}
