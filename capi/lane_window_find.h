// lane_window_find.h: the window of a handle, for lane_window.c and lane_epoch.c.
#ifndef BANYAN_LANE_WINDOW_FIND_H
#define BANYAN_LANE_WINDOW_FIND_H

#include "lane_owner.h"

// find_window is NULL if C doesn't know the window, or may do nothing.
static inline struct lane_win *find_window(MPI_Win win)
{
	const struct lane_memory *m = banyan_lane;
	uint64_t handle = (uintptr_t)win;
	uint64_t i = (handle ^ handle >> 4) % LANE_WINS;
	if (UNLIKELY(LOAD(&m->winhandles[i]) != handle || handle == 0 || (LOAD(&m->closed) & ~LANE_TICK) != 0))
		return NULL;
	return m->wins[i];
}

#endif
