// What the library does when the program exits: a program that has used sessions leaves the job then.

#include <stdlib.h>

#include "banyan.h"

// leaves says that there is something to leave. It is known here, since a program may exit in a
// signal handler that has interrupted Go, which can't be called then.
static int leaves;

static void at_exit(void)
{
	// A child of fork is no part of the job, and can't call Go either.
	if (__atomic_load_n(&leaves, __ATOMIC_RELAXED) && !(banyan_unusual & BANYAN_FORKED))
		banyan_exits();
}

void banyan_at_exit(int now)
{
	static int registered;
	__atomic_store_n(&leaves, now, __ATOMIC_RELAXED);
	if (!__atomic_exchange_n(&registered, 1, __ATOMIC_RELAXED))
		atexit(at_exit);
}
