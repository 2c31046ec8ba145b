// lane.h: small messages within a host without Go; see lane.c.
#ifndef BANYAN_LANE_H
#define BANYAN_LANE_H

#include <stdbool.h>
#include <stdint.h>

#include "../abi/mpi.h"
#include "lane_layout.h"

#pragma GCC visibility push(hidden)

// banyan_lane_open has this process use the memory that Go has laid out; banyan_lane_close has it
// use none. No other thread may be in MPI.
void banyan_lane_open(void *memory);
void banyan_lane_close(void);

// banyan_lane_usable says whether a call of the functions below is worthwhile. The caller asks before
// it calls them: so jobs without a lane pay for two loads, and not for a call.
extern struct lane_memory *banyan_lane;

static inline bool banyan_lane_usable(void)
{
	return __atomic_load_n(&banyan_lane->closed, __ATOMIC_RELAXED) == 0;
}

// banyan_lane_send sends a message, or returns false and has done nothing.
bool banyan_lane_send(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);

// banyan_lane_receive receives a message, or returns false and has done nothing.
bool banyan_lane_receive(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, MPI_Status *status);

// banyan_lane_probe finds a message and leaves it, or returns false.
bool banyan_lane_probe(int source, int tag, MPI_Comm comm, bool wait, MPI_Status *status);

// BANYAN_SENT is the request of every send that ended within its call: binding's sentHandle.
#define BANYAN_SENT ((MPI_Request)(uintptr_t)LANE_SENT)

// banyan_lane_sent ends requests, whether the lane is usable or not, if all of them are sends that had ended within their calls, or
// returns false and has done nothing.
bool banyan_lane_sent(int64_t count, MPI_Request *requests, MPI_Status *statuses);

// banyan_lane_released wakes a goroutine that waits for the lock. It is Go's.
void banyan_lane_released(void);

#pragma GCC visibility pop

#endif
