// Times what ULFM's functions take. Arguments: what is measured (steady, agree or known), a file of
// eight bytes that all ranks map, blocks, and operations in each block.
//
// steady  barriers, agreements, shrinks and revoked allreduces, without deaths, block by block in turn
// agree   a rank is killed: until all others have returned from their first agreement
// known   a rank is killed: until all others have the error from a receive that waits for it
//
// Rank 0 prints a line for each block: the nanoseconds of a barrier, an agreement, a shrink and a
// revocation, or those of the one event.
#include <mpi.h>
#include <mpi-ext.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

// rest is for how many nanoseconds all have waited when a rank is killed, or a communicator revoked.
enum { rest = 20000000 };

static int rank, size;

static long long now(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t); // of the host: all ranks have the same
	return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void fail(const char *what)
{
	fprintf(stderr, "rank %d: %s\n", rank, what);
	_exit(1); // others may be dead
}

static void want(int good, const char *what)
{
	if (!good)
		fail(what);
}

static void sleep_until(long long then)
{
	long long left = then - now();
	if (left > 0)
		nanosleep(&(struct timespec){left / 1000000000, left % 1000000000}, NULL);
}

static int class_of(int code)
{
	int class;
	MPI_Error_class(code, &class);
	return class;
}

static double per(long long begin, int operations)
{
	return (double)(now() - begin) / operations;
}

static double barriers(int operations)
{
	MPI_Barrier(MPI_COMM_WORLD);
	long long begin = now();
	for (int i = 0; i < operations; i++)
		want(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS, "a barrier failed");
	return per(begin, operations);
}

static double agreements(int operations)
{
	MPI_Barrier(MPI_COMM_WORLD);
	long long begin = now();
	for (int i = 0; i < operations; i++) {
		int flag = 2 | rank == i % size;
		want(MPIX_Comm_agree(MPI_COMM_WORLD, &flag) == MPI_SUCCESS && flag == (size == 1 ? 3 : 2), "an agreement went wrong");
	}
	return per(begin, operations);
}

static double shrinks(int operations)
{
	double all = 0;
	for (int i = 0; i < operations; i++) {
		MPI_Comm comm;
		int n;
		MPI_Barrier(MPI_COMM_WORLD);
		long long begin = now();
		want(MPIX_Comm_shrink(MPI_COMM_WORLD, &comm) == MPI_SUCCESS, "a shrink failed");
		all += now() - begin;
		MPI_Comm_size(comm, &n);
		want(n == size, "a shrink without failures has lost ranks");
		MPI_Comm_free(&comm);
	}
	return all / operations;
}

// revoked is from the beginning of a revocation until the last rank has returned from the allreduce
// in which it waited.
static double revoked(void)
{
	MPI_Comm comm;
	long long begin = 0, end, last;
	double one = 1, sum;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == size - 1) {
		sleep_until(now() + rest);
		begin = now();
		MPIX_Comm_revoke(comm);
	} else {
		want(class_of(MPI_Allreduce(&one, &sum, 1, MPI_DOUBLE, MPI_SUM, comm)) == MPIX_ERR_REVOKED, "an allreduce of a revoked communicator has another outcome");
	}
	end = now();
	MPI_Bcast(&begin, 1, MPI_LONG_LONG, size - 1, MPI_COMM_WORLD);
	MPI_Reduce(&end, &last, 1, MPI_LONG_LONG, MPI_MAX, 0, MPI_COMM_WORLD);
	MPI_Comm_free(&comm);
	return last - begin;
}

static void steady(int blocks, int operations)
{
	int few = operations / 4 > 0 ? operations / 4 : 1;
	barriers(operations); // warm
	agreements(operations);
	shrinks(few);
	for (int i = 0; i < blocks; i++) {
		double b = barriers(operations), a = agreements(operations), s = shrinks(few), r = size > 1 ? revoked() : 0;
		if (rank == 0)
			printf("%.0f %.0f %.0f %.0f\n", b, a, s, r);
	}
}

// death kills the last rank, which writes down when that was.
static void death(int known, volatile long long *killed)
{
	MPI_Comm left;
	long long end, last;
	int flag = 1, n;
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == size - 1) {
		sleep_until(now() + rest);
		*killed = now();
		raise(SIGKILL);
	}
	if (known)
		want(class_of(MPI_Recv(&n, 1, MPI_INT, size - 1, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED, "a receive from a dead rank has another outcome");
	else
		want(class_of(MPIX_Comm_agree(MPI_COMM_WORLD, &flag)) == MPIX_ERR_PROC_FAILED, "an agreement without a dead rank has another outcome");
	end = now();
	want(MPIX_Comm_shrink(MPI_COMM_WORLD, &left) == MPI_SUCCESS, "a shrink failed");
	MPI_Comm_size(left, &n);
	want(n == size - 1, "the shrunk communicator has another size");
	MPI_Reduce(&end, &last, 1, MPI_LONG_LONG, MPI_MAX, 0, left);
	if (rank == 0)
		printf("%lld\n", last - *killed);
	MPI_Comm_free(&left);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	want(argc == 5, "want: steady|agree|known FILE BLOCKS OPERATIONS");
	int f = open(argv[2], O_RDWR);
	volatile long long *killed = mmap(NULL, sizeof *killed, PROT_READ | PROT_WRITE, MAP_SHARED, f, 0);
	want(killed != MAP_FAILED, "the file can't be mapped");
	*killed = 0; // the page is there
	if (!strcmp(argv[1], "steady"))
		steady(atoi(argv[3]), atoi(argv[4]));
	else
		death(!strcmp(argv[1], "known"), killed);
	fflush(stdout);
	MPI_Finalize();
	return 0;
}
