// rma tests one-sided communication. Its first argument names what it does; without one it checks
// all that goes well, on windows of each kind.
#include "rmaactive.h"
#include "rmapassive.h"
#include "rmamistakes.h"

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

// What jobs with replicas can do; led says that they run in leader order.
static void replicas(int led)
{
	static const int kinds[] = {MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_CREATE};
	for (int i = 0; i < 2; i++) {
		make(kinds[i]);
		for (int round = 0; round < 20; round++) {
			fences();
			types();
			sums();
			active(!led);
		}
		OK(MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN));
		if (!led)
			FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_Win_lock(MPI_LOCK_SHARED, (rank + 1) % size, 0, win));
		OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, win)); // its own
		OK(MPI_Win_unlock(rank, win));
		if (!led)
			FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_Win_lock_all(0, win));
		int *model, is;
		OK(MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &is));
		CHECK(is && *model == (led ? MPI_WIN_SEPARATE : MPI_WIN_UNIFIED));
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

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (strcmp(what, "") == 0)
		all();
	else if (strcmp(what, "replicas") == 0)
		replicas(0);
	else if (strcmp(what, "led") == 0)
		replicas(1);
	else
		fatal(what);
	return END;
}
