// Functions that Banyan doesn't implement.

#include <stdio.h>
#include <string.h>

#include "banyan.h"

int banyan_missing(int *said, const char *function, uintptr_t comm, uintptr_t win)
{
	if (!__atomic_exchange_n(said, 1, __ATOMIC_RELAXED)) {
		fprintf(stderr, "banyan: %s isn't implemented by Banyan yet\n", function);
		banyan_lacks((char *)function, (int)strlen(function));
	}
	return RESULT(banyan_unsupported((char *)function, (int)strlen(function), comm, win));
}
