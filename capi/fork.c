// Children of fork.

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "banyan.h"
#include "guest.h"

int banyan_unusual;

static void in_child(void)
{
	banyan_unusual |= BANYAN_FORKED;
	banyan_signals_in_child();
}

__attribute__((constructor)) static void watch_forks(void)
{
	pthread_atfork(NULL, NULL, in_child);
}

// orphan is what a function does in a child: it says so, once, and returns an
// error. The error handler isn't called: most would end the job, of which the child is
// no part. MPI_Abort ends the child.
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

int banyan_detour(const char *function)
{
	if (banyan_unusual & BANYAN_FORKED)
		return orphan(function);
	banyan_note_callers();
	return 0;
}
