// Functions that Banyan doesn't implement.

#include <stdio.h>
#include <string.h>

#include "banyan.h"

// first says whether this is the first time.
static int first(int *said)
{
	return !__atomic_exchange_n(said, 1, __ATOMIC_RELAXED);
}

int banyan_missing_quiet(int *said, const char *function, int code)
{
	if (first(said)) {
		fprintf(stderr, "banyan: %s isn't implemented by Banyan yet\n", function);
		banyan_lacks((char *)function, (int)strlen(function));
	}
	return code;
}

int banyan_missing(int *said, const char *function, uintptr_t comm, uintptr_t win)
{
	banyan_missing_quiet(said, function, 0);
	return RESULT(banyan_unsupported((char *)function, (int)strlen(function), comm, win));
}
