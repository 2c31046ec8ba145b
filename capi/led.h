// led.h: MPI_Wtime in leader order.
#ifndef BANYAN_LED_H
#define BANYAN_LED_H

#include <time.h>

#include "clocks.h"

// banyan_led says that a replica of this rank decides what the time is: banyan_time, Go's, tells it.
#pragma GCC visibility push(hidden)
extern int banyan_led;
#pragma GCC visibility pop

// banyan_clock is the time of this host.
static inline double banyan_clock(void)
{
	struct timespec t;
	banyan_libc.clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

#endif
