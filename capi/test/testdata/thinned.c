// thinned HOW ROUNDS goes on when rank 1 of a job with replicas in leader order has been lost: with
// threads that communicate at once, with a file, or with a window. Those who live print what they
// have come to.
#define _GNU_SOURCE
#include <mpi.h>
#include "mpi-ext.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

static int rank, size, rounds;

static int is_loss(int code)
{
	int class = class_of(code);
	return class == MPIX_ERR_PROC_FAILED || class == MPIX_ERR_PROC_FAILED_PENDING || class == MPIX_ERR_REVOKED;
}

// Leaves a communicator in which a rank has failed: a new one of those that live. Every member
// comes here, or none does.
static int left(MPI_Comm *comm, int well)
{
	MPI_Comm next;
	int code = MPIX_Comm_agree(*comm, &well);
	if (code == MPI_SUCCESS && well)
		return 0;
	OK(MPIX_Comm_revoke(*comm));
	OK(MPIX_Comm_shrink(*comm, &next));
	MPI_Comm_free(comm);
	*comm = next;
	return 1;
}

// A thread adds up on a communicator of its own, and takes what comes from any source.
struct task {
	MPI_Comm comm;
	int number, lost;
	long sum;
};

static void *work(void *of)
{
	struct task *t = of;
	for (int round = 0; round < rounds;) {
		int n, me, one = 1, sum, got, code;
		MPI_Comm_size(t->comm, &n);
		MPI_Comm_rank(t->comm, &me);
		code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, t->comm);
		CHECK(code == MPI_SUCCESS || is_loss(code));
		if (code == MPI_SUCCESS && me > 0) {
			code = MPI_Send(&round, 1, MPI_INT, 0, t->number, t->comm);
		} else if (code == MPI_SUCCESS) {
			for (int i = 1; i < n && code == MPI_SUCCESS; i++) {
				code = MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, t->number, t->comm, MPI_STATUS_IGNORE);
				CHECK(code != MPI_SUCCESS || got == round);
			}
		}
		CHECK(code == MPI_SUCCESS || is_loss(code));
		if (left(&t->comm, code == MPI_SUCCESS)) {
			t->lost++;
			continue;
		}
		CHECK(sum == n);
		t->sum += sum;
		round++;
	}
	return NULL;
}

static void threads(void)
{
	enum { count = 3 };
	pthread_t ids[count];
	struct task tasks[count];
	for (int i = 0; i < count; i++) {
		tasks[i] = (struct task){.number = i};
		OK(MPI_Comm_dup(MPI_COMM_WORLD, &tasks[i].comm));
	}
	for (int i = 0; i < count; i++)
		CHECK(pthread_create(&ids[i], NULL, work, &tasks[i]) == 0);
	for (int i = 0; i < count; i++) {
		pthread_join(ids[i], NULL);
		CHECK(tasks[i].lost == 1 && tasks[i].sum >= (long)rounds * (size - 1) && tasks[i].sum < (long)rounds * size);
		MPI_Comm_free(&tasks[i].comm);
	}
	printf("goes on: %d threads\n", count);
}

// Each rank writes its own blocks in each round, and reads them again, after the loss too.
static void file(const char *path)
{
	MPI_Comm comm;
	MPI_File f;
	int lost = 0;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	for (int round = 0; round < rounds;) {
		int block[16], back[16], one = 1, sum;
		MPI_Offset at = ((MPI_Offset)round * size + rank) * (MPI_Offset)sizeof block;
		MPI_Status status;
		for (int i = 0; i < 16; i++)
			block[i] = round * 100 + rank * 10 + i;
		CHECK(MPI_File_write_at(f, at, block, 16, MPI_INT, &status) == MPI_SUCCESS);
		memset(back, 0xff, sizeof back);
		CHECK(MPI_File_read_at(f, at, back, 16, MPI_INT, &status) == MPI_SUCCESS && memcmp(block, back, sizeof block) == 0);
		int code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
		CHECK(code == MPI_SUCCESS || is_loss(code));
		if (left(&comm, code == MPI_SUCCESS))
			lost++;
		else
			round++;
	}
	int code = MPI_File_close(&f); // collective over a dead rank
	CHECK(code == MPI_SUCCESS || is_loss(code));
	OK(MPI_File_open(comm, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
	for (int round = 0; round < rounds; round++) {
		for (int r = 0; r < size; r++) {
			int back[16];
			MPI_Offset at = ((MPI_Offset)round * size + r) * (MPI_Offset)sizeof back;
			if (r == 1) // as far as it came
				continue;
			OK(MPI_File_read_at_all(f, at, back, 16, MPI_INT, MPI_STATUS_IGNORE));
			CHECK(back[0] == round * 100 + r * 10 && back[15] == back[0] + 15);
		}
	}
	OK(MPI_File_close(&f));
	CHECK(lost == 1);
	MPI_Comm_free(&comm);
	printf("goes on: file\n");
}

// Each rank puts into its right neighbour's part, between fences. After the loss a window of those
// that live takes the place of the old one.
static void window(void)
{
	MPI_Comm comm;
	int lost = 0;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
	for (int round = 0; round < rounds;) {
		MPI_Win win;
		int *part, n, me, well = 1;
		MPI_Comm_size(comm, &n);
		MPI_Comm_rank(comm, &me);
		int code = MPI_Win_allocate(4 * sizeof(int), sizeof(int), MPI_INFO_NULL, comm, &part, &win);
		CHECK(code == MPI_SUCCESS || is_loss(code));
		if (code == MPI_SUCCESS)
			MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
		for (; code == MPI_SUCCESS && round < rounds;) {
			int give = round * 10 + me;
			code = MPI_Win_fence(0, win);
			if (code == MPI_SUCCESS)
				code = MPI_Put(&give, 1, MPI_INT, (me + 1) % n, 0, 1, MPI_INT, win);
			if (code == MPI_SUCCESS)
				code = MPI_Win_fence(0, win);
			CHECK(code == MPI_SUCCESS || is_loss(code));
			if (code == MPI_SUCCESS)
				CHECK(part[0] == round * 10 + (me + n - 1) % n);
			well = code == MPI_SUCCESS;
			code = MPIX_Comm_agree(comm, &well);
			if (code != MPI_SUCCESS || !well)
				break;
			round++;
		}
		if (code == MPI_SUCCESS && well && round == rounds) {
			OK(MPI_Win_free(&win));
			break;
		}
		lost += left(&comm, 0);
	}
	CHECK(lost == 1);
	MPI_Comm_free(&comm);
	printf("goes on: window\n");
}

int main(int argc, char **argv)
{
	int provided;
	(void)argc;
	MPI_Init_thread(NULL, NULL, MPI_THREAD_MULTIPLE, &provided);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	rounds = atoi(argv[2]);
	if (strcmp(argv[1], "threads") == 0)
		threads();
	else if (strcmp(argv[1], "file") == 0)
		file(argv[3]);
	else
		window();
	return END;
}
