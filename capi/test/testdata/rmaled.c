// One-sided communication whose outcome timing decides, in jobs with replicas in leader order: who
// gets a lock, which number a fetch gives, which piece of a queue a rank takes, whether an exposure is
// over. All replicas of a rank must get the same: each rank sends a hash of what it has got to rank 0.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int self, ranks, rounds;
static unsigned long long history = 14695981039346656037ull;

static void see(long v) { history = (history ^ (unsigned long long)v) * 1099511628211ull; }

static void must(int so, const char *what) {
	if (!so) {
		printf("not so at rank %d: %s\n", self, what);
		fflush(stdout);
		MPI_Abort(MPI_COMM_WORLD, 3);
	}
}

static MPI_Win make(long **part, int longs, int brings) {
	MPI_Win win;
	if (brings) {
		*part = calloc(longs + 1, sizeof **part);
		MPI_Win_create(*part, longs * sizeof **part, sizeof **part, MPI_INFO_NULL, MPI_COMM_WORLD, &win);
	} else {
		MPI_Win_allocate(longs * sizeof **part, sizeof **part, MPI_INFO_NULL, MPI_COMM_WORLD, part, &win);
	}
	int *model, is;
	MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &is);
	must(is && *model == MPI_WIN_SEPARATE, "the memory model is separate");
	return win;
}

// A counter that is read and written under an exclusive lock, at each rank.
static void counter(void) {
	long *part, v;
	MPI_Win win = make(&part, 2, 1);
	for (int i = 0; i < rounds; i++)
		for (int r = 0; r < ranks; r++) {
			MPI_Win_lock(MPI_LOCK_EXCLUSIVE, r, 0, win);
			if (r == self) { // its own part is its own memory
				see(part[0]);
				part[0]++;
			} else {
				MPI_Get(&v, 1, MPI_LONG, r, 0, 1, MPI_LONG, win);
				MPI_Win_flush(r, win);
				see(v++);
				MPI_Put(&v, 1, MPI_LONG, r, 0, 1, MPI_LONG, win);
			}
			MPI_Win_unlock(r, win);
		}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_sync(win);
	must(part[0] == (long)rounds * ranks, "no count is lost");
	MPI_Win_free(&win);
	free(part);
}

// What a rank does to its own part in an epoch of locks it sees right behind that, as in the unified model.
static void own(void) {
	long *part, v;
	MPI_Win win = make(&part, 2, 0);
	for (int i = 1; i <= rounds; i++) {
		MPI_Win_lock_all(0, win);
		v = i;
		MPI_Accumulate(&v, 1, MPI_LONG, self, 0, 1, MPI_LONG, MPI_REPLACE, win);
		if (i % 3 == 0)
			MPI_Win_flush(self, win);
		MPI_Put(&v, 1, MPI_LONG, (self + 1) % ranks, 1, 1, MPI_LONG, win);
		MPI_Win_unlock_all(win);
		must(part[0] == i, "an access to the own part is seen after MPI_Win_unlock_all");
		MPI_Win_lock(MPI_LOCK_SHARED, self, 0, win);
		v = -i;
		MPI_Put(&v, 1, MPI_LONG, self, 0, 1, MPI_LONG, win);
		MPI_Win_unlock(self, win);
		must(part[0] == -i, "an access to the own part is seen after MPI_Win_unlock");
	}
	MPI_Barrier(MPI_COMM_WORLD);
	MPI_Win_sync(win);
	see(part[1]);
	MPI_Win_free(&win);
}

// Tickets of rank 0, which computes meanwhile, and shared sums of all.
static void tickets(void) {
	long *part, one = 1, was, got[2], add[2] = {1, self};
	MPI_Win win = make(&part, self == 0 ? 4 : 2, 0);
	MPI_Win_lock_all(0, win);
	long mine = 0;
	for (int i = 0; i < 4 * rounds; i++) {
		MPI_Fetch_and_op(&one, &was, MPI_LONG, 0, 3, MPI_SUM, win);
		MPI_Win_flush(0, win);
		see(was);
		mine += was;
		int to = (int)(was % ranks); // what it does next depends on that
		MPI_Request r;
		MPI_Rget_accumulate(add, 2, MPI_LONG, got, 2, MPI_LONG, to, 0, 2, MPI_LONG, MPI_SUM, win, &r);
		MPI_Wait(&r, MPI_STATUS_IGNORE);
		see(got[0]);
		see(got[1]);
		volatile double x = 1;
		for (int k = 0; k < 2000 && self == 0; k++)
			x *= 1.0000001;
	}
	MPI_Win_unlock_all(win);
	long all, n = 4L * rounds * ranks, sums[2], total[2];
	MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	must(all == n * (n - 1) / 2, "each ticket is given once");
	MPI_Win_sync(win);
	memcpy(sums, part, sizeof sums);
	MPI_Allreduce(sums, total, 2, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	must(total[0] == n && total[1] == 4L * rounds * ranks * (ranks - 1) / 2, "sums are whole");
	if (self == 0)
		must(part[3] == n, "the number of tickets");
	MPI_Win_free(&win);
}

// A queue of work at rank 0: who swaps its head first has the piece.
static void queue(void) {
	long *part, head = 0, next, was, mine = 0;
	MPI_Win win = make(&part, 1, 0);
	int pieces = 5 * rounds;
	MPI_Win_lock_all(0, win);
	while (head < pieces) {
		next = head + 1;
		MPI_Compare_and_swap(&next, &head, &was, MPI_LONG, 0, 0, win);
		MPI_Win_flush_all(win);
		see(was);
		if (was == head) {
			mine += head;
			head++;
		} else {
			head = was;
		}
	}
	MPI_Win_unlock_all(win);
	long all;
	MPI_Allreduce(&mine, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
	must(all == (long)pieces * (pieces - 1) / 2, "each piece is taken once");
	MPI_Win_free(&win);
}

// All ranks expose their parts to each other and fetch from each other; rank 0 tests.
static void exposures(void) {
	long *part, add = self + 1, *was = malloc(ranks * sizeof *was);
	MPI_Win win = make(&part, 1, 1);
	MPI_Group group;
	MPI_Comm_group(MPI_COMM_WORLD, &group);
	for (int i = 0; i < rounds; i++) {
		MPI_Win_post(group, 0, win);
		MPI_Win_start(group, 0, win);
		for (int r = 0; r < ranks; r++)
			MPI_Fetch_and_op(&add, &was[r], MPI_LONG, r, 0, MPI_SUM, win);
		MPI_Win_complete(win);
		for (int r = 0; r < ranks; r++)
			see(was[r]);
		if (self % 2 == 0) {
			int done = 0, vain = 0;
			while (!done) {
				MPI_Win_test(win, &done);
				vain++;
			}
			see(vain);
		} else {
			MPI_Win_wait(win);
		}
		must(part[0] == (long)(i + 1) * ranks * (ranks + 1) / 2, "all have added when the exposure is over");
	}
	MPI_Group_free(&group);
	MPI_Win_free(&win);
	free(was);
	free(part);
}

// Fences, and locks between them, of large parts.
static void mixed(void) {
	enum { n = 20000 };
	long *part, *data = malloc(n * sizeof *data), was;
	MPI_Win win = make(&part, n, 1);
	for (int i = 0; i < rounds; i++) {
		int right = (self + 1) % ranks, left = (self + ranks - 1) % ranks;
		for (int k = 0; k < n; k++)
			data[k] = self * 1000003L + k + i;
		MPI_Win_fence(0, win);
		MPI_Put(data, n, MPI_LONG, right, 0, n, MPI_LONG, win);
		MPI_Win_fence(MPI_MODE_NOSUCCEED, win);
		for (int k = 0; k < n; k += 997)
			must(part[k] == left * 1000003L + k + i, "what the fence has put");
		MPI_Win_lock(MPI_LOCK_SHARED, right, 0, win);
		MPI_Accumulate(data, n, MPI_LONG, right, 0, n, MPI_LONG, MPI_SUM, win);
		MPI_Win_flush(right, win);
		MPI_Get(data, n, MPI_LONG, right, 0, n, MPI_LONG, win);
		MPI_Win_unlock(right, win);
		for (int k = 997; k < n; k += 997) // integer 0 of rank 0 may have been added to
			must(data[k] == 2 * (self * 1000003L + k + i), "what it has added");
		MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, win);
		long one = 1;
		MPI_Fetch_and_op(&one, &was, MPI_LONG, 0, 0, MPI_SUM, win);
		MPI_Win_unlock(0, win);
		see(was);
		MPI_Barrier(MPI_COMM_WORLD);
	}
	MPI_Win_free(&win);
	free(part);
	free(data);
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &self);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	rounds = argc > 2 ? atoi(argv[2]) : 5;
	struct { const char *name; void (*run)(void); } kinds[] = {{"counter", counter}, {"own", own}, {"tickets", tickets}, {"queue", queue}, {"exposures", exposures}, {"mixed", mixed}};
	for (int i = 0; i < 5; i++)
		if (argc < 2 || !strcmp(argv[1], "all") || !strcmp(argv[1], kinds[i].name))
			kinds[i].run();
	if (self > 0) {
		MPI_Send(&history, 1, MPI_UNSIGNED_LONG_LONG, 0, 1, MPI_COMM_WORLD);
	} else {
		unsigned long long h;
		for (int r = 1; r < ranks; r++) {
			MPI_Recv(&h, 1, MPI_UNSIGNED_LONG_LONG, r, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			see((long)h);
		}
		printf("rmaled %s %016llx\n", argc > 1 ? argv[1] : "all", history);
	}
	MPI_Finalize();
	return 0;
}
