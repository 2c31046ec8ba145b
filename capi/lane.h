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

// banyan_lane_usable says whether a call of the functions below is worthwhile. The caller asks
// before it calls them: so jobs without a lane pay for two loads, and not for a call.
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

// banyan_lane_note starts a receive, or returns false and has done nothing. blocking says that
// MPI_Recv waits for it.
bool banyan_lane_note(void *buf, int64_t count, MPI_Datatype datatype, int source, int tag, MPI_Comm comm, bool blocking, MPI_Request *request);

// banyan_lane_threaded says whether threads share the lane: then MPI_Recv waits by a note.
static inline bool banyan_lane_threaded(void) { return banyan_lane->turns != 0; }

// banyan_lane_start_send is banyan_lane_send for MPI_Isend. It returns the request, which has ended
// and can be cancelled, or 0.
MPI_Request banyan_lane_start_send(const void *buf, int64_t count, MPI_Datatype datatype, int dest, int tag, MPI_Comm comm);

// BANYAN_SENT is the request of an operation that ended within its call: binding's sentHandle. That
// of a send has a number, too: see banyan_lane_sent.
#define BANYAN_SENT ((MPI_Request)(uintptr_t)LANE_SENT)

// BANYAN_NO_PROC is that of every receive from MPI_PROC_NULL: binding's noProcHandle.
#define BANYAN_NO_PROC ((MPI_Request)(uintptr_t)LANE_NO_PROC)

// banyan_lane_knows says whether banyan_lane_end may know a request: that of a send that has ended,
// of a receive that was noted, or of one from MPI_PROC_NULL.
static inline bool banyan_lane_knows(MPI_Request request)
{
	return ((uintptr_t)request & 15) == LANE_KIND;
}

// banyan_lane_sent says whether a request is one that ended within its call.
static inline bool banyan_lane_sent(MPI_Request request)
{
	return ((uintptr_t)request & ~((uintptr_t)LANE_NUMBER_MASK << 4)) == LANE_SENT;
}

// What has become of requests. UNKNOWN: Go is to look.
enum banyan_lane_outcome { BANYAN_UNKNOWN, BANYAN_NOT_YET, BANYAN_OVER };

// banyan_lane_end ends requests, whether the lane is usable or not, if it knows all of them and
// they are over. Else some messages may have been received, and no request has ended. With wait it
// waits, and doesn't return BANYAN_NOT_YET.
enum banyan_lane_outcome banyan_lane_end(int64_t count, MPI_Request *requests, MPI_Status *statuses, bool wait);

// banyan_lane_end_some does so with those of the requests that are over, the first ones, but at
// most with so many. Without any but null it is BANYAN_UNKNOWN.
enum banyan_lane_outcome banyan_lane_end_some(int count, MPI_Request *requests, int most, int *ended, int *indices, MPI_Status *statuses, bool wait);

// banyan_lane_knows_some guesses whether it is worthwhile: the first request that isn't null says
// so.
static inline bool banyan_lane_knows_some(int count, const MPI_Request *requests)
{
	for (int i = 0; requests && i < count; i++)
		if (requests[i] != MPI_REQUEST_NULL)
			return banyan_lane_knows(requests[i]);
	return false;
}

// banyan_lane_await makes progress for requests that C knows until all or any of them have ended,
// or, as a test, once, or just serves others. It is Go's.
enum { BANYAN_ALL, BANYAN_ANY, BANYAN_TEST, BANYAN_SERVE };
void banyan_lane_await(int32_t count, MPI_Request *requests, int how);

// banyan_lane_rouse wakes the threads that wait in Go for requests that C knows. It is Go's.
void banyan_lane_rouse(void);

// banyan_lane_released wakes a goroutine that waits for the lock. It is Go's.
void banyan_lane_released(void);

#pragma GCC visibility pop

#endif
