// rmarefused does what jobs with replicas can't do: the job ends with a sentence about it.
#include <mpi.h>

#include <stdio.h>
#include <string.h>

int main(int argc, char **argv)
{
	int rank, had, flag;
	long part[2] = {0}, one = 1, was;
	const char *kind = argc > 1 ? argv[1] : "lock";
	MPI_Init_thread(&argc, &argv, strcmp(kind, "threads") ? MPI_THREAD_SINGLE : MPI_THREAD_MULTIPLE, &had);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Win win;
	MPI_Info info;
	MPI_Info_create(&info);
	MPI_Info_set(info, "no_locks", strcmp(kind, "no_locks") ? "false" : "true");
	if (strcmp(kind, "dynamic"))
		MPI_Win_create(part, sizeof part, sizeof *part, info, MPI_COMM_WORLD, &win);
	else
		MPI_Win_create_dynamic(info, MPI_COMM_WORLD, &win);
	MPI_Info_free(&info);
	MPI_Group world, other;
	int neighbour = 1 - rank;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	MPI_Group_incl(world, 1, &neighbour, &other);
	int exposes = !strcmp(kind, "fetch") || !strcmp(kind, "test") || !strcmp(kind, "no_locks");
	if (exposes) {
		MPI_Win_post(other, 0, win);
		MPI_Win_start(other, 0, win);
		if (!strcmp(kind, "test"))
			MPI_Win_test(win, &flag);
		else
			MPI_Fetch_and_op(&one, &was, MPI_LONG, neighbour, 0, MPI_SUM, win);
		MPI_Win_complete(win);
		MPI_Win_wait(win);
	} else {
		MPI_Win_lock(MPI_LOCK_SHARED, neighbour, 0, win);
	}
	printf("nothing is wrong\n");
	MPI_Group_free(&other);
	MPI_Group_free(&world);
	MPI_Win_free(&win);
	MPI_Finalize();
	return 0;
}
