// What the library does when the program exits: a program that has used sessions leaves the job then.

#include <stdlib.h>

#include "banyan.h"

static void at_exit(void)
{
	if (!(banyan_unusual & BANYAN_FORKED)) // a child of fork is no part of the job, and can't call Go
		banyan_exits();
}

void banyan_at_exit(void) { atexit(at_exit); }
