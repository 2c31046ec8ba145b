// What programs share that connect two groups of ranks: the first ranks of the world, a third of them
// and at least one, and the others. They need two ranks.
#include <mpi.h>
#include <mpi-ext.h>

#include "check.h"

enum { MOST = 16, N = 5 };

static int rank, size, low, high;     // of the world, of the groups
static int first;                     // this rank is in the first group
static int here, local, remote;       // its rank there, the sizes of its group and the other one
static MPI_Comm group, inter;

static int code(MPI_Comm comm, int code)
{
	int class = code;
	if (code != MPI_SUCCESS)
		MPI_Error_class(code, &class);
	return class;
}

static void connect(MPI_Comm peer, int tag, MPI_Comm *made)
{
	// The last ranks lead.
	OK(MPI_Intercomm_create(group, local - 1, peer, first ? size - 1 : low - 1, tag, made));
	CHECK(*made != MPI_COMM_NULL);
}

// begin makes the groups and connects them.
static void begin(void)
{
	OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
	OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
	low = size / 3 > 0 ? size / 3 : 1, high = size - low;
	first = rank < low;
	local = first ? low : high, remote = first ? high : low;
	here = first ? rank : rank - low;
	OK(MPI_Comm_split(MPI_COMM_WORLD, first, 0, &group));
	connect(MPI_COMM_WORLD, 11, &inter);
}
