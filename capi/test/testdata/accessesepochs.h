// accessesepochs.h: epochs of locks and of MPI_Win_post of accesses.c.

// increments adds to two numbers at each part that must stay equal, by threads that lock parts of
// their own. What isn't atomic is done alone; others look meanwhile.
struct guard {
	MPI_Win w;
	uint64_t seed;
	int first, step; // the parts of this thread
	int64_t added;
};

enum { GUARDED = 1024, LOOPS = 40 };

static void *increments(void *arg)
{
	struct guard *g = arg;
	uint64_t s = g->seed;
	for (int i = 0; i < LOOPS; i++) {
		int64_t v[2];
		int target = g->first + (int)(s % (uint64_t)((size - g->first + g->step - 1) / g->step)) * g->step;
		bool alone = s >> 32 & 1;
		s = mix(s);
		OK(MPI_Win_lock(alone ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, target, 0, g->w));
		OK(MPI_Get(v, 2, MPI_INT64_T, target, CELLS * CELL + GUARDED, 2, MPI_INT64_T, g->w));
		OK(MPI_Win_flush(target, g->w));
		CHECK(v[0] == v[1]);
		if (alone) {
			v[0]++;
			OK(MPI_Put(&v[0], 1, MPI_INT64_T, target, CELLS * CELL + GUARDED, 1, MPI_INT64_T, g->w));
			OK(MPI_Win_flush(target, g->w));
			v[1]++;
			OK(MPI_Put(&v[1], 1, MPI_INT64_T, target, CELLS * CELL + GUARDED + 8, 1, MPI_INT64_T, g->w));
			g->added++;
		}
		OK(MPI_Win_unlock(target, g->w));
	}
	return NULL;
}

// looks_at_all looks at the numbers of all parts.
static int64_t looks_at_all(MPI_Win w)
{
	int64_t v[2], all = 0;
	OK(MPI_Win_lock_all(0, w));
	for (int r = 0; r < size; r++) {
		OK(MPI_Get(v, 2, MPI_INT64_T, r, CELLS * CELL + GUARDED, 2, MPI_INT64_T, w));
		OK(MPI_Win_flush(r, w));
		CHECK(v[0] == v[1]);
		all += v[0];
	}
	OK(MPI_Win_unlock_all(w));
	return all;
}

static void guarded(MPI_Win w, int threads)
{
	pthread_t ids[8];
	struct guard g[8];
	int64_t zero[2] = {0}, added = 0, all;
	next();
	MPI_Barrier(MPI_COMM_WORLD);
	OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w));
	OK(MPI_Put(zero, 2, MPI_INT64_T, rank, CELLS * CELL + GUARDED, 2, MPI_INT64_T, w));
	OK(MPI_Win_unlock(rank, w));
	MPI_Barrier(MPI_COMM_WORLD);
	threads = threads < size ? threads : size;
	for (int i = threads - 1; i >= 0; i--) {
		g[i] = (struct guard){w, mix(state + i * 100 + rank), i, threads, 0};
		if (i > 0)
			pthread_create(&ids[i], NULL, increments, &g[i]);
		else
			increments(&g[0]);
	}
	for (int i = 0; i < threads; i++) {
		if (i > 0)
			pthread_join(ids[i], NULL);
		added += g[i].added;
	}
	for (int i = 0; i < 10; i++)
		looks_at_all(w);
	MPI_Allreduce(&added, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
	CHECK(looks_at_all(w) == all);
	MPI_Barrier(MPI_COMM_WORLD);
	OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, MPI_MODE_NOCHECK, w)); // others look no more
	OK(MPI_Put(zero, 2, MPI_INT64_T, rank, CELLS * CELL + GUARDED, 2, MPI_INT64_T, w));
	OK(MPI_Win_unlock(rank, w));
	MPI_Barrier(MPI_COMM_WORLD);
}

// neighbours has each rank expose its part to its left neighbour, and access that of its right one,
// again and again, without anything else between the epochs.
static void neighbours(MPI_Win w, MPI_Group all)
{
	MPI_Group to, from;
	int left = (rank + size - 1) % size, right = (rank + 1) % size, flag;
	int64_t *got = (int64_t *)(mine + CELLS * CELL + GUARDED + 64);
	uint64_t s = next();
	OK(MPI_Group_incl(all, 1, &right, &to));
	OK(MPI_Group_incl(all, 1, &left, &from));
	for (int64_t i = 1; i <= 50; i++) {
		s = mix(s);
		OK(MPI_Win_post(from, s % 5 == 0 ? MPI_MODE_NOSTORE : 0, w));
		OK(MPI_Win_start(to, 0, w));
		OK(MPI_Put(&i, 1, MPI_INT64_T, right, CELLS * CELL + GUARDED + 64, 1, MPI_INT64_T, w));
		if (s % 7 == 0) // pairs of numbers travel as messages to memory of the program
			OK(MPI_Accumulate((double complex[]){i}, 1, MPI_C_DOUBLE_COMPLEX, right, CELLS * CELL + GUARDED + 128, 1, MPI_C_DOUBLE_COMPLEX, MPI_REPLACE, w));
		OK(MPI_Win_complete(w));
		if (s % 3)
			OK(MPI_Win_wait(w));
		else
			for (flag = 0; !flag;)
				OK(MPI_Win_test(w, &flag));
		CHECK(*got == i);
		if (s % 7 == 0)
			CHECK(creal(*(double complex *)(mine + CELLS * CELL + GUARDED + 128)) == i);
		if (s % 11 == 0) { // another group may get the handle
			OK(MPI_Group_free(&from));
			OK(MPI_Group_incl(all, 1, &left, &from));
		}
	}
	OK(MPI_Group_free(&to));
	OK(MPI_Group_free(&from));
	MPI_Barrier(MPI_COMM_WORLD);
	memset(got, 0, 128);
	MPI_Barrier(MPI_COMM_WORLD);
}
