// commons.h: small collectives of a host's processes without Go; see commons.c.
#ifndef BANYAN_COMMONS_H
#define BANYAN_COMMONS_H

#include <stdbool.h>
#include <stdint.h>

#include "../abi/mpi.h"
#include "lane.h"

#pragma GCC visibility push(hidden)

// Each carries a collective out, or returns false: then Go is to do so, which knows how much of it
// has been done. The caller asks banyan_lane_usable before.
bool banyan_commons_barrier(MPI_Comm comm);
bool banyan_commons_agree(int *flag, MPI_Comm comm);
bool banyan_commons_bcast(void *buf, int64_t count, MPI_Datatype datatype, int root, MPI_Comm comm);
bool banyan_commons_allreduce(const void *send, void *recv, int64_t count, MPI_Datatype datatype, MPI_Op op, MPI_Comm comm);
bool banyan_commons_allgather(const void *send, int64_t count, MPI_Datatype datatype, void *recv, int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm);
bool banyan_commons_alltoall(const void *send, int64_t count, MPI_Datatype datatype, void *recv, int64_t recvcount, MPI_Datatype recvtype, MPI_Comm comm);

#pragma GCC visibility pop

#endif
