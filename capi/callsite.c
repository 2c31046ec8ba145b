// Where the program calls MPI, for banyan check, and for errors that end the job. The Go runtime
// can't see the C stack. So in a job that is checked each call records its callers before it
// enters Go, and such an error does so after Go has returned.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <string.h>

#include "banyan.h"
#include "callsite.h"

// Each call of a led job writes here, so finding the place mustn't take a call. (The Go runtime has
// a thread-local variable of this kind, too.)
static __thread __attribute__((tls_model("initial-exec"))) uintptr_t callers[BANYAN_CALLERS + 1];

void banyan_watch_callers(void)
{
	void *one[1];
	backtrace(one, 1); // the first call loads what backtrace needs
	banyan_unusual |= BANYAN_CHECKED;
}

void banyan_note_callers(void)
{
	void *frames[BANYAN_CALLERS];
	int n = backtrace(frames, BANYAN_CALLERS);
	for (int i = 0; i < n; i++)
		callers[i] = (uintptr_t)frames[i];
	callers[n] = 0;
}

void banyan_watch_caller(void)
{
	banyan_unusual |= BANYAN_LED;
}

void banyan_note_caller(void *caller)
{
	callers[0] = (uintptr_t)caller;
	callers[1] = 0;
}

static void die(MPI_Comm *comm, int *code, ...)
{
	banyan_note_callers();
	banyan_die();
}

uintptr_t banyan_last_words(void)
{
	return (uintptr_t)die;
}

const uintptr_t *banyan_callers(void)
{
	return callers;
}

int banyan_locate(uintptr_t address, const char **file, uintptr_t *linked)
{
	Dl_info at;
	struct link_map *map;
	if (!dladdr1((void *)address, &at, (void **)&map, RTLD_DL_LINKMAP))
		return 0;
	const char *slash = strrchr(map->l_name, '/');
	const char *name = slash ? slash + 1 : map->l_name;
	if (strncmp(name, "libmpi_abi.", strlen("libmpi_abi.")) == 0 || strncmp(name, "libmpifort_abi.", strlen("libmpifort_abi.")) == 0)
		return 0;
	*file = map->l_name;
	*linked = address - map->l_addr;
	return 1;
}
