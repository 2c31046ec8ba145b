// accesseskills.h: deaths of accesses.c.

static void dies(int signal)
{
	(void)signal;
	raise(SIGKILL);
}

static void die_soon(uint64_t seed)
{
	struct itimerval at = {.it_value.tv_usec = 1 + mix(seed) % 3000};
	signal(SIGALRM, dies);
	setitimer(ITIMER_REAL, &at, NULL);
}

static MPI_Win survivable(void)
{
	MPI_Win w;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	OK(MPI_Win_allocate(8192, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &w));
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	memset(mine, 0, 8192);
	MPI_Barrier(MPI_COMM_WORLD);
	return w;
}

static bool failed(int code)
{
	int class = MPI_SUCCESS;
	MPI_Error_class(code, &class);
	CHECK(class == MPI_SUCCESS || class == MPIX_ERR_PROC_FAILED);
	return class != MPI_SUCCESS;
}

// killed has the last rank die anywhere in its accumulates; the others go on, and their additions
// are all there.
static void killed(uint64_t seed)
{
	MPI_Win w;
	enum { N = 512 };
	int64_t ones[N], got[8];
	double units[8] = {1};
	bool victim = rank == size - 1;
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	OK(MPI_Win_allocate(8192, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &w));
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	for (int i = 0; i < N; i++)
		ones[i] = 1;
	memset(mine, 0, 8192);
	OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, w));
	MPI_Barrier(MPI_COMM_WORLD);
	if (victim)
		die_soon(seed);
	// Its own elements are others than the survivors', at the same part.
	MPI_Aint to = victim ? 4096 : 0;
	long n = victim ? 1L << 40 : 20000;
	for (long i = 0; i < n; i++) {
		int count = i % 4 ? 1 : N - 2, odd = i % 16 == 3;
		MPI_Accumulate(ones, count, MPI_INT64_T, 0, to, count, MPI_INT64_T, MPI_SUM, w);
		if (i % 8 == 1)
			MPI_Fetch_and_op(units, got, MPI_DOUBLE, 0, to + 8 * (N - 1), MPI_SUM, w);
		if (odd)
			MPI_Accumulate(ones, 1, MPI_INT64_T, 0, to + 8 * N + 1, 1, MPI_INT64_T, MPI_SUM, w);
	}
	OK(MPI_Win_flush_all(w));
	int64_t first;
	OK(MPI_Fetch_and_op(NULL, &first, MPI_INT64_T, 0, 8, MPI_NO_OP, w));
	CHECK(first >= n / 4);
	printf("rank %d survives\n", rank);
	fflush(stdout);
}

// killed_locking has the last rank die with, or on its way to, a lock of rank 0's part alone, or one
// of those of all parts, or of rank 1's part, that it shares. Rank 0's part may be locked for ever
// then; rank 1's isn't.
static void killed_locking(uint64_t seed)
{
	MPI_Win w = survivable();
	if (rank == size - 1) {
		uint64_t s = mix(seed);
		for (die_soon(seed);; s = mix(s)) {
			if (s % 3 == 0) {
				OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w));
				OK(MPI_Win_unlock(0, w));
			} else if (s % 3 == 1) {
				OK(MPI_Win_lock(MPI_LOCK_SHARED, 1, 0, w));
				OK(MPI_Win_unlock(1, w));
			} else {
				OK(MPI_Win_lock_all(0, w));
				OK(MPI_Win_unlock_all(w));
			}
		}
	}
	bool lost = false;
	for (double start = MPI_Wtime(); MPI_Wtime() - start < 0.1;) {
		int64_t v;
		OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 1, 0, w));
		OK(MPI_Get(&v, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, w));
		OK(MPI_Win_flush(1, w));
		v++;
		OK(MPI_Put(&v, 1, MPI_INT64_T, 1, 0, 1, MPI_INT64_T, w));
		OK(MPI_Win_unlock(1, w));
		bool now = failed(MPI_Win_lock(rank == 0 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, 0, 0, w));
		CHECK(now || !lost); // for ever
		if ((lost = now))
			CHECK(failed(MPI_Win_lock_all(0, w)));
		else
			OK(MPI_Win_unlock(0, w));
	}
	printf("rank %d survives\n", rank);
	fflush(stdout);
}

// killed_pairing has the last rank die anywhere in epochs with the others, which go on with each other.
static void killed_pairing(uint64_t seed)
{
	MPI_Win w = survivable();
	MPI_Group world, victim, others;
	int last = size - 1, two[] = {0, 1}, other = 1 - rank;
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	OK(MPI_Group_incl(world, 1, &last, &victim));
	if (rank == last) {
		OK(MPI_Group_incl(world, 2, two, &others));
		for (die_soon(seed);;) {
			OK(MPI_Win_start(others, 0, w));
			OK(MPI_Win_complete(w));
			OK(MPI_Win_post(others, 0, w));
			OK(MPI_Win_wait(w));
		}
	}
	OK(MPI_Group_incl(world, 1, &other, &others));
	for (;;) {
		OK(MPI_Win_post(victim, 0, w));
		if (failed(MPI_Win_wait(w)) || failed(MPI_Win_start(victim, 0, w)))
			break;
		if (failed(MPI_Win_complete(w)))
			break;
	}
	for (int64_t i = 1; i <= 200; i++) {
		OK(MPI_Win_post(others, 0, w));
		OK(MPI_Win_start(others, 0, w));
		OK(MPI_Put(&i, 1, MPI_INT64_T, other, 0, 1, MPI_INT64_T, w));
		OK(MPI_Win_complete(w));
		OK(MPI_Win_wait(w));
		CHECK(*(int64_t *)mine == i);
	}
	printf("rank %d survives\n", rank);
	fflush(stdout);
}
