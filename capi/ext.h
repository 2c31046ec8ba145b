// ext.h: the C side of mpi-ext.h, as Go sees it.
#ifndef BANYAN_EXT_H
#define BANYAN_EXT_H

#include "../abi/mpi.h"

// As in mpi-ext.h.
typedef struct MPIX_State_piece {
	void *address;
	MPI_Count length;
} MPIX_State_piece;
typedef int MPIX_State_save_function(void *extra, int *count, const MPIX_State_piece **pieces);
typedef int MPIX_State_load_function(void *extra, const void *data, MPI_Count length);

#pragma GCC visibility push(hidden)

// banyan_due says whether MPIX_Safepoint has anything to do.
void banyan_due(int is);

#pragma GCC visibility pop

#endif
