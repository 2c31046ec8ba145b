// lane_window.h: one-sided communication without Go; see lane_window.c and lane_epoch.c.
#ifndef BANYAN_LANE_WINDOW_H
#define BANYAN_LANE_WINDOW_H

#include "lane.h"

#pragma GCC visibility push(hidden)

// Each function does what its namesake of MPI does, or returns false and has done nothing.
bool banyan_window_put(const void *origin, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Win win);
bool banyan_window_get(void *origin, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Win win);
bool banyan_window_accumulate(const void *origin, int64_t count, MPI_Datatype datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win);
bool banyan_window_fetch(const void *origin, int64_t count, MPI_Datatype datatype, void *result, int64_t result_count, MPI_Datatype result_datatype, int rank, MPI_Aint disp, int64_t target_count, MPI_Datatype target_datatype, MPI_Op op, MPI_Win win);
bool banyan_window_swap(const void *origin, const void *compare, void *result, MPI_Datatype datatype, int rank, MPI_Aint disp, MPI_Win win);
bool banyan_window_flush(int rank, MPI_Win win);
bool banyan_window_flush_all(MPI_Win win);
bool banyan_window_fence(int assert, MPI_Win win);
bool banyan_window_sync(MPI_Win win);
bool banyan_window_lock(int type, int rank, int assert, MPI_Win win);
bool banyan_window_unlock(int rank, MPI_Win win);
bool banyan_window_lock_all(int assert, MPI_Win win);
bool banyan_window_unlock_all(MPI_Win win);
bool banyan_window_post(MPI_Group group, int assert, MPI_Win win);
bool banyan_window_start(MPI_Group group, int assert, MPI_Win win);
bool banyan_window_complete(MPI_Win win);
bool banyan_window_wait(MPI_Win win);
bool banyan_window_test(MPI_Win win, int *flag);

// banyan_window_nudge wakes the members of a window that may sleep. It is Go's.
void banyan_window_nudge(MPI_Win win);

#pragma GCC visibility pop

#endif
