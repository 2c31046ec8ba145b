// bcast SEED ROUNDS broadcasts in a job whose ranks are killed. Ranks 0 and 1 are the roots in turn
// and live on. The others kill themselves at a random moment of a random broadcast. The ranks that
// are left must get all that the roots send, to the byte.
#include "check.h"
#include <mpi.h>

#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { AHEAD = 4, LARGEST = 300000 };

static unsigned char data[AHEAD][LARGEST];
static const int sizes[] = {1, 8, 100, 5000, 65536, 65537, LARGEST};

// The state of the random numbers, which are the same at all ranks.
static unsigned lots;
static unsigned draw(unsigned n)
{
	lots = lots * 1664525u + 1013904223u;
	return (lots >> 8) % n;
}

static unsigned char byte(int number, int i) { return number * 31 + i * 7 + (i >> 8); }

static void *killer(void *after)
{
	usleep(*(unsigned *)after);
	raise(SIGKILL);
	return NULL;
}

static int holds(int number, const unsigned char *b, int n)
{
	for (int i = 0; i < n; i++)
		if (b[i] != byte(number, i))
			return 0;
	return 1;
}

int main(int argc, char **argv)
{
	int rank, size, rounds = atoi(argv[2]), end;
	MPI_Comm comm[2];
	MPI_Request request[AHEAD];
	int number[AHEAD], length[AHEAD], under = 0;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	comm[0] = MPI_COMM_WORLD;
	OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm[1]));
	lots = atoi(argv[1]);
	end = rounds;
	for (int r = 2; r < size; r++) {
		int when = draw(2 * rounds);
		if (r == rank)
			end = when;
	}
	for (int i = 0; i < rounds; i++) {
		int n = sizes[draw(i % 8 == 0 ? 7 : 4)], root = draw(2), background = draw(3) == 0;
		MPI_Comm c = comm[draw(2)];
		unsigned char *b = data[under];
		if (i == end) {
			static unsigned after;
			static pthread_t thread;
			after = rand() % 500;
			pthread_create(&thread, NULL, killer, &after);
		}
		for (int k = 0; k < n; k++)
			b[k] = rank == root ? byte(i, k) : 0;
		if (background) {
			number[under] = i;
			length[under] = n;
			OK(MPI_Ibcast(b, n, MPI_BYTE, root, c, &request[under]));
			under++;
		} else {
			OK(MPI_Bcast(b, n, MPI_BYTE, root, c));
			CHECK(holds(i, b, n));
		}
		if (under == AHEAD || i == rounds - 1) {
			OK(MPI_Waitall(under, request, MPI_STATUSES_IGNORE));
			for (int k = 0; k < under; k++)
				CHECK(holds(number[k], data[k], length[k]));
			under = 0;
		}
	}
	if (end < rounds)
		pause();
	printf("rank %d has all\n", rank);
	OK(MPI_Comm_free(&comm[1]));
	return END;
}
