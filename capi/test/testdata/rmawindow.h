// rmawindow.h: the window of the tests of one-sided communication, of each kind.
#include <mpi.h>
#include <mpi-ext.h>

#include <stdint.h>
#include <stdlib.h>

#include "check.h"

static int rank, size;

enum { elements = 4096 };
static MPI_Aint place[1024]; // of each rank's part, in dynamic windows

static double *memory; // this rank's part
static int flavor;
static MPI_Win win;

static MPI_Aint disp(int target, MPI_Aint element)
{
	return flavor == MPI_WIN_FLAVOR_DYNAMIC ? place[target] + element * (MPI_Aint)sizeof(double) : element;
}

static void make(int kind)
{
	MPI_Aint bytes = elements * sizeof(double), here;
	flavor = kind;
	switch (kind) {
	case MPI_WIN_FLAVOR_ALLOCATE:
		OK(MPI_Win_allocate(bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &win));
		break;
	case MPI_WIN_FLAVOR_CREATE:
		memory = calloc(elements, sizeof(double));
		OK(MPI_Win_create(memory, bytes, sizeof(double), MPI_INFO_NULL, MPI_COMM_WORLD, &win));
		break;
	case MPI_WIN_FLAVOR_DYNAMIC:
		memory = calloc(elements, sizeof(double));
		OK(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_WORLD, &win));
		OK(MPI_Win_attach(win, memory, bytes));
		OK(MPI_Get_address(memory, &here));
		OK(MPI_Allgather(&here, 1, MPI_AINT, place, 1, MPI_AINT, MPI_COMM_WORLD));
		break;
	}
	for (int i = 0; i < elements; i++)
		memory[i] = 0;
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void done(void)
{
	if (flavor == MPI_WIN_FLAVOR_DYNAMIC) {
		OK(MPI_Barrier(MPI_COMM_WORLD));
		OK(MPI_Win_detach(win, memory));
	}
	OK(MPI_Win_free(&win));
	if (flavor != MPI_WIN_FLAVOR_ALLOCATE)
		free(memory);
}
