// Children of fork.

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "banyan.h"
#include "clocks.h"
#include "lane.h"
#include "led.h"
#include "signals.h"

int banyan_unusual;

static void in_child(void)
{
	banyan_unusual |= BANYAN_FORKED;
	banyan_led = 0;
	banyan_close_clocks();
	banyan_lane_close();
	banyan_signals_in_child();
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

// orphan is the body of a function in a child of fork. It prints a message, once, and returns
// an error. It doesn't call the error handler: most handlers would end the job, and the child
// isn't part of the job. MPI_Abort ends the child.
static int orphan(const char *function)
{
	static int said;
	if (!__atomic_exchange_n(&said, 1, __ATOMIC_RELAXED))
		fprintf(stderr, "banyan: %s is called in pid %d, a child of fork, which is no part of the job: "
				"only the process that called MPI_Init is\n", function, (int)getpid());
	if (strcmp(function, "MPI_Abort") == 0)
		_exit(1);
	return MPI_ERR_OTHER;
}

int banyan_detour(const char *function, void *caller)
{
	if (banyan_unusual & BANYAN_FORKED)
		return orphan(function);
	if (banyan_unusual & BANYAN_CHECKED)
		banyan_note_callers();
	else
		banyan_note_caller(caller);
	return 0;
}
