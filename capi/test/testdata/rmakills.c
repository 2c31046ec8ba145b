// rmakills tests what a death means for one-sided communication. Its first argument names the epoch
// in which rank 1 dies; all others get an error of the right class, and nobody hangs.
#include <mpi.h>
#include <mpi-ext.h>

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

// die ends this process when the others are through with what they did together.
static void die(void)
{
	usleep(50000);
	raise(SIGKILL);
}

int main(int argc, char **argv)
{
	const char *epoch = argc > 1 ? argv[1] : "", *kind = argc > 2 ? argv[2] : "create";
	int rank, size, code = MPI_SUCCESS, class, others[64], n = 0, one = 1;
	double *memory, x[40000] = {0};
	MPI_Aint bytes = sizeof x;
	MPI_Win w;
	MPI_Group world, group, victim;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	if (strcmp(kind, "create") == 0) {
		memory = calloc(1, bytes);
		OK(MPI_Win_create(memory, bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &w));
	} else {
		OK(MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &w));
	}
	OK(MPI_Win_set_errhandler(w, MPI_ERRORS_RETURN));
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	for (int i = 0; i < size; i++)
		if (i != 1)
			others[n++] = i;
	OK(MPI_Group_incl(world, n, others, &group));
	OK(MPI_Group_incl(world, 1, &one, &victim));

	if (strcmp(epoch, "fence") == 0) { // what travels to the dead, and a barrier with it
		OK(MPI_Win_fence(0, w));
		if (rank == 1)
			die();
		for (int i = 0; i < 100 && code == MPI_SUCCESS; i++)
			code = MPI_Put(x, 40000, MPI_DOUBLE, 1, 0, 40000, MPI_DOUBLE, w);
		if (code == MPI_SUCCESS)
			code = MPI_Win_fence(0, w);
	} else if (strcmp(epoch, "start") == 0) { // it never posts
		if (rank == 1)
			die();
		code = MPI_Win_start(victim, 0, w);
	} else if (strcmp(epoch, "complete") == 0) { // it has posted, and a get may have no answer
		if (rank == 1) {
			OK(MPI_Win_post(group, 0, w));
			die();
		}
		code = MPI_Win_start(victim, 0, w);
		if (code == MPI_SUCCESS)
			code = MPI_Get(x, 40000, MPI_DOUBLE, 1, 0, 40000, MPI_DOUBLE, w);
		if (code == MPI_SUCCESS)
			code = MPI_Win_complete(w);
		if (code == MPI_SUCCESS)
			code = MPIX_ERR_PROC_FAILED; // the data was there before the death
	} else if (strcmp(epoch, "wait") == 0) { // it never completes
		if (rank == 1) {
			OK(MPI_Win_start(group, 0, w));
			die();
		}
		OK(MPI_Win_post(victim, 0, w));
		code = MPI_Win_wait(w);
	} else if (strcmp(epoch, "flush") == 0) { // it dies while others access its part
		if (rank == 1) {
			die();
		}
		OK(MPI_Win_lock_all(0, w));
		for (int i = 0; i < 1000000 && code == MPI_SUCCESS; i++) {
			double add = 1, was;
			code = MPI_Fetch_and_op(&add, &was, MPI_DOUBLE, 1, 0, MPI_SUM, w);
			if (code == MPI_SUCCESS)
				code = MPI_Win_flush(1, w);
			if (code == MPI_SUCCESS && strcmp(kind, "create") != 0)
				usleep(100), i += 10000;
		}
		if (code == MPI_SUCCESS && strcmp(kind, "create") != 0)
			code = MPIX_ERR_PROC_FAILED;
	} else if (strcmp(epoch, "lock") == 0) { // it holds the exclusive lock of rank 0's part
		if (rank == 1) {
			OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w));
			OK(MPI_Barrier(MPI_COMM_WORLD));
			die();
		}
		OK(MPI_Barrier(MPI_COMM_WORLD));
		code = MPI_Win_lock(rank % 2 ? MPI_LOCK_EXCLUSIVE : MPI_LOCK_SHARED, 0, 0, w);
	} else if (strcmp(epoch, "leaves") == 0) { // it finalises with that lock
		if (rank == 1)
			OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, 0, 0, w));
		OK(MPI_Barrier(MPI_COMM_WORLD));
		if (rank != 1) {
			code = MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w);
			MPI_Error_class(code, &class);
			CHECK(class == MPI_ERR_RMA_SYNC);
		}
		return END;
	} else if (strcmp(epoch, "deserted") == 0) { // rank 1 finalises, and never posts
		if (rank != 1)
			code = MPI_Win_start(victim, 0, w);
		else
			return END;
		CHECK(MPI_Win_free(&w) != MPI_SUCCESS);
		MPI_Error_class(code, &class);
		CHECK(class != MPI_SUCCESS);
		return END;
	} else if (strcmp(epoch, "free") == 0) { // the window lives until all that live have freed it
		double add = rank, sum = 0;
		if (rank == 1)
			die();
		if (rank > 1) {
			usleep(300000);
			OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w));
			OK(MPI_Accumulate(&add, 1, MPI_DOUBLE, 0, 0, 1, MPI_DOUBLE, MPI_SUM, w));
			OK(MPI_Win_unlock(0, w));
		}
		OK(MPI_Win_free(&w));
		for (int i = 2; i < size; i++)
			sum += i;
		CHECK(rank != 0 || strcmp(kind, "create") != 0 || memory[0] == sum);
		return END;
	} else {
		CHECK(0);
	}
	MPI_Error_class(code, &class);
	CHECK(class == MPIX_ERR_PROC_FAILED);
	return END;
}
