// accesses is a random program of one-sided communication whose outcome is known: it is the same
// with the way in C (capi/lane_window.c) and without it.
//
//	accesses plain SEED ROUNDS    // every kind of window and epoch
//	accesses threads SEED ROUNDS  // and several threads of each rank
//	accesses kill SEED            // the last rank dies in the midst of accumulates
//	accesses kill-lock SEED       // of epochs of locks
//	accesses kill-pair SEED       // of those of MPI_Win_post and MPI_Win_start
#include <mpi.h>
#include <mpi-ext.h>

#include <complex.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>

#include "check.h"

enum { CELLS = 8, CELL = 2048, COMMON = 4096, PART = CELLS * CELL + COMMON };

static uint64_t mix(uint64_t x)
{
	x += 0x9e3779b97f4a7c15;
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
	x = (x ^ x >> 27) * 0x94d049bb133111eb;
	return x ^ x >> 31;
}

static uint64_t state, sum;
static uint64_t next(void) { return state = mix(state); }
static uint64_t below(uint64_t n) { return next() % n; }

static int rank, size;
static char *mine;

// form is which function of MPI an access is made by: the plain one, the one with a wide count, or
// one of those with a request, which are for epochs of locks.
static int form;

static void ended(MPI_Request r) { OK(MPI_Wait(&r, MPI_STATUS_IGNORE)); }

static void put(const void *out, int n, MPI_Datatype t, int target, MPI_Aint at, int there, MPI_Datatype type, MPI_Win w)
{
	MPI_Request r;
	switch (form) {
	case 1:
		OK(MPI_Put_c(out, n, t, target, at, there, type, w));
		break;
	case 2:
		OK(MPI_Rput(out, n, t, target, at, there, type, w, &r));
		ended(r);
		break;
	case 3:
		OK(MPI_Rput_c(out, n, t, target, at, there, type, w, &r));
		ended(r);
		break;
	default:
		OK(MPI_Put(out, n, t, target, at, there, type, w));
	}
}

static void get(void *in, int n, MPI_Datatype t, int target, MPI_Aint at, int there, MPI_Datatype type, MPI_Win w)
{
	MPI_Request r;
	switch (form) {
	case 1:
		OK(MPI_Get_c(in, n, t, target, at, there, type, w));
		break;
	case 2:
		OK(MPI_Rget(in, n, t, target, at, there, type, w, &r));
		ended(r);
		break;
	case 3:
		OK(MPI_Rget_c(in, n, t, target, at, there, type, w, &r));
		ended(r);
		break;
	default:
		OK(MPI_Get(in, n, t, target, at, there, type, w));
	}
}

static void accumulate(const void *out, int n, MPI_Datatype t, int target, MPI_Aint at, MPI_Op op, MPI_Win w)
{
	MPI_Request r;
	switch (form) {
	case 1:
		OK(MPI_Accumulate_c(out, n, t, target, at, n, t, op, w));
		break;
	case 2:
		OK(MPI_Raccumulate(out, n, t, target, at, n, t, op, w, &r));
		ended(r);
		break;
	case 3:
		OK(MPI_Raccumulate_c(out, n, t, target, at, n, t, op, w, &r));
		ended(r);
		break;
	default:
		OK(MPI_Accumulate(out, n, t, target, at, n, t, op, w));
	}
}

static void fetch(const void *out, int given, void *in, int n, MPI_Datatype t, int target, MPI_Aint at, MPI_Op op, MPI_Win w)
{
	MPI_Request r;
	switch (form) {
	case 1:
		OK(MPI_Get_accumulate_c(out, given, t, in, n, t, target, at, n, t, op, w));
		break;
	case 2:
		OK(MPI_Rget_accumulate(out, given, t, in, n, t, target, at, n, t, op, w, &r));
		ended(r);
		break;
	case 3:
		OK(MPI_Rget_accumulate_c(out, given, t, in, n, t, target, at, n, t, op, w, &r));
		ended(r);
		break;
	default:
		OK(MPI_Get_accumulate(out, given, t, in, n, t, target, at, n, t, op, w));
	}
}

static void note(const void *data, size_t bytes)
{
	for (size_t i = 0; i < bytes; i++)
		sum = mix(sum ^ ((const unsigned char *)data)[i]);
}

// Types by number.
static MPI_Datatype type(int k, size_t *bytes, int *reals)
{
	static const size_t sizes[] = {8, 4, 1, 2, 8, 8, 4, 16, 4};
	MPI_Datatype all[] = {MPI_INT64_T, MPI_INT, MPI_CHAR, MPI_UINT16_T, MPI_UINT64_T, MPI_DOUBLE, MPI_FLOAT, MPI_C_DOUBLE_COMPLEX, MPI_UNSIGNED};
	*bytes = sizes[k], *reals = k >= 5 && k <= 7;
	return all[k];
}
enum { TYPES = 9, COMPLEX = 7 };

// fill makes numbers of a type, small and whole, so that the order of sums doesn't matter.
static void fill(char *data, int k, int count)
{
	for (int i = 0; i < count; i++) {
		int64_t v = below(40);
		switch (k) {
		case 5:
			((double *)data)[i] = v;
			break;
		case 6:
			((float *)data)[i] = v;
			break;
		case COMPLEX:
			((double complex *)data)[i] = v + 2 * v * I;
			break;
		default: {
			size_t bytes;
			int reals;
			type(k, &bytes, &reals);
			memcpy(data + i * bytes, &v, bytes);
		}
		}
	}
}

// cell accesses a cell of a target that nobody else accesses in this epoch. flushes says that
// accesses may be ended one by one. What is drawn is the same at all ranks.
static void cell(int origin, int target, int c, MPI_Win w, bool flushes)
{
	static char out[CELL], in[CELL], with[16];
	int k = below(TYPES), reals;
	size_t bytes;
	MPI_Datatype t = type(k, &bytes, &reals);
	int shift = below(4) == 0 && bytes > 1 ? 1 + below(bytes - 1) : 0; // elements that aren't aligned
	int most = (CELL - 16) / bytes, count = 1 + below(below(2) ? 9 : most);
	MPI_Aint at = c * CELL + shift;
	fill(out, k, count);
	memset(with, 0, sizeof with);
	int steps = flushes ? 4 : 1, first = below(2);
	bool me = origin == rank;
	for (int s = 0; s < steps; s++) {
		MPI_Op op = (MPI_Op[]){MPI_SUM, MPI_REPLACE, MPI_PROD}[below(3)];
		if (!reals && below(2))
			op = (MPI_Op[]){MPI_MAX, MPI_MIN, MPI_BXOR, MPI_BAND, MPI_BOR, MPI_LXOR}[below(6)];
		form = below(flushes ? 4 : 2);
		bool raw = below(4) == 0; // bytes on one side, elements on the other
		int n = raw ? count * (int)bytes : count;
		MPI_Datatype own = raw ? MPI_BYTE : t;
		int what = s == 0 ? (first ? 0 : 2) : below(7);
		if (k != COMPLEX && what == 6 && reals)
			what = 5;
		memset(in, 0, sizeof in);
		if (me)
			switch (what) {
			case 0:
				put(out, n, own, target, at, count, t, w);
				break;
			case 1:
				get(in, n, own, target, at, count, t, w);
				break;
			case 2:
				accumulate(out, count, t, target, at, MPI_REPLACE, w);
				break;
			case 3:
				accumulate(out, count, t, target, at, op, w);
				break;
			case 4:
				fetch(out, count, in, count, t, target, at, op, w);
				break;
			case 5:
				OK(MPI_Fetch_and_op(out, in, t, target, at, below(3) ? op : MPI_NO_OP, w));
				break;
			default:
				if (reals)
					fetch(NULL, 0, in, count, t, target, at, MPI_NO_OP, w);
				else
					OK(MPI_Compare_and_swap(out, with, in, t, target, at, w));
			}
		else if (what == 5)
			below(3);
		if (me && flushes) {
			int how = below(4);
			if (how >= 2)
				OK(how == 2 ? MPI_Win_flush_local(target, w) : MPI_Win_flush_local_all(w));
			OK(how % 2 ? MPI_Win_flush(target, w) : MPI_Win_flush_all(w));
			OK(MPI_Win_sync(w));
			note(in, sizeof in);
		} else if (flushes) {
			below(4);
		}
	}
}

// adds has all ranks, and all their threads, add to the same elements, in rows of all lengths. They
// are checked against the number of additions.
enum { ADDS = 60 };
struct adder {
	MPI_Win w;
	uint64_t seed;
};

static void *adds(void *arg)
{
	struct adder *a = arg;
	static const int64_t ones[COMMON / 8] = {[0 ... COMMON / 8 - 1] = 1};
	int64_t was[COMMON / 8];
	uint64_t s = a->seed;
	for (int i = 0; i < ADDS; i++) {
		s = mix(s);
		int count = i % 3 == 0 ? COMMON / 8 - 2 : 4; // always the first four, in vectors and one by one
		int target = (i + rank) % size;
		if (s % 2)
			OK(MPI_Accumulate(ones, count, MPI_INT64_T, target, CELLS * CELL, count, MPI_INT64_T, MPI_SUM, a->w));
		else
			OK(MPI_Get_accumulate(ones, count, MPI_INT64_T, was, count, MPI_INT64_T, target, CELLS * CELL, count, MPI_INT64_T, MPI_SUM, a->w));
		// Elements that aren't aligned, by all.
		OK(MPI_Accumulate(ones, 1, MPI_INT64_T, target, PART - 15, 1, MPI_INT64_T, MPI_SUM, a->w));
		if (s % 7 == 0)
			OK(MPI_Win_flush(target, a->w));
	}
	OK(MPI_Win_flush_all(a->w)); // was is this function's
	return NULL;
}

static void contended(MPI_Win w, int threads, int64_t *so_far)
{
	pthread_t ids[8];
	struct adder a[8];
	int64_t tail;
	OK(MPI_Win_lock_all(0, w));
	for (int i = 1; i < threads; i++) {
		a[i] = (struct adder){w, mix(state + i * 100 + rank)};
		pthread_create(&ids[i], NULL, adds, &a[i]);
	}
	a[0] = (struct adder){w, mix(state + rank)};
	adds(&a[0]);
	for (int i = 1; i < threads; i++)
		pthread_join(ids[i], NULL);
	OK(MPI_Win_unlock_all(w));
	next();
	MPI_Barrier(MPI_COMM_WORLD);
	*so_far += (int64_t)ADDS * threads; // each rank's turns go round the targets
	for (int i = 0; i < 4; i++)
		CHECK(((int64_t *)(mine + CELLS * CELL))[i] == *so_far);
	memcpy(&tail, mine + PART - 15, 8);
	CHECK(tail == *so_far);
	MPI_Barrier(MPI_COMM_WORLD);
}

#include "accessesepochs.h"
#include "accesseskills.h"

static void program(uint64_t seed, int threads)
{
	MPI_Win w;
	int64_t so_far = 0;
	state = mix(seed);
	int kind = below(3);
	if (kind == 0) {
		OK(MPI_Win_allocate(PART, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &w));
	} else if (kind == 1) {
		OK(MPI_Win_allocate_shared(PART, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &w));
	} else {
		mine = malloc(PART);
		OK(MPI_Win_create(mine, PART, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &w));
	}
	MPI_Group all;
	OK(MPI_Win_get_group(w, &all));
	memset(mine, 0, PART);
	MPI_Barrier(MPI_COMM_WORLD);
	for (int round = 0; round < 8; round++) {
		int epoch = below(7);
		if (epoch == 0) {
			OK(MPI_Win_fence(0, w));
			if (below(2))
				OK(MPI_Win_fence(MPI_MODE_NOSTORE, w));
		} else if (epoch == 1) {
			OK(MPI_Win_lock_all(0, w));
		} else if (epoch == 2) {
			for (int r = 0; r < size; r++)
				OK(MPI_Win_lock(MPI_LOCK_SHARED, r, 0, w));
		} else if (epoch == 3) {
			OK(MPI_Win_post(all, 0, w));
			OK(MPI_Win_start(all, 0, w));
		} else if (epoch == 4) {
			contended(w, threads, &so_far);
			continue;
		} else if (epoch == 5) {
			guarded(w, threads);
			continue;
		} else {
			neighbours(w, all);
			continue;
		}
		for (int target = 0; target < size; target++)
			for (int c = 0; c < CELLS; c++)
				cell(below(size), target, c, w, epoch == 1 || epoch == 2);
		if (epoch == 0) {
			OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w));
		} else if (epoch == 1) {
			OK(MPI_Win_unlock_all(w));
		} else if (epoch == 2) {
			for (int r = 0; r < size; r++)
				OK(MPI_Win_unlock(r, w));
		} else {
			OK(MPI_Win_complete(w));
			OK(MPI_Win_wait(w));
		}
		MPI_Barrier(MPI_COMM_WORLD);
		note(mine, CELLS * CELL);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Group_free(&all);
	OK(MPI_Win_free(&w));
	if (kind == 2)
		free(mine);
	printf("rank %d, seed %d: sum %016llx\n", rank, (int)seed, (unsigned long long)sum);
}

int main(int argc, char **argv)
{
	const char *kind = argc > 1 ? argv[1] : "plain";
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 0) : 0;
	int rounds = argc > 3 ? atoi(argv[3]) : 1, given;
	bool threads = strcmp(kind, "threads") == 0;
	MPI_Init_thread(&argc, &argv, threads ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &given);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (strcmp(kind, "kill") == 0)
		killed(seed);
	else if (strcmp(kind, "kill-lock") == 0)
		killed_locking(seed);
	else if (strcmp(kind, "kill-pair") == 0)
		killed_pairing(seed);
	else
		for (int i = 0; i < rounds; i++)
			program(seed + i, threads ? 3 : 1);
	return END;
}
