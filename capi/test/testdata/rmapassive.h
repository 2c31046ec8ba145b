// rmapassive.h: epochs that the targets don't know of.
#include <string.h>

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
