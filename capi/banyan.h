// banyan.h is what the generated entry points (entry.c) and the handwritten C of
// the library share.
#ifndef BANYAN_H
#define BANYAN_H

#include <stdint.h>

#include "../abi/mpi.h"
#include "_cgo_export.h"

#define UNLIKELY(x) __builtin_expect(!!(x), 0)

// MPI_X is a weak alias of PMPI_X.
#define ALIAS(type, name, params) type name params __attribute__((weak, alias("P" #name)))

// What follows is nobody's business outside: calls of it need no detour by the linker's
// tables.
#pragma GCC visibility push(hidden)

// What a function has to do before its work, where something is unusual: bits of banyan_unusual.
//
// A child of fork has the memory of the Go runtime, but not its threads: a call into Go
// might never return. fork.c sets BANYAN_FORKED in the child; there banyan_detour returns an error.
// In a job that is checked (banyan check), place.c notes where the program is.
#define BANYAN_FORKED 1
#define BANYAN_CHECKED 2
extern int banyan_unusual;
int banyan_detour(const char *function);

#define GUARD(function)                                                           \
	do {                                                                      \
		int code;                                                         \
		if (UNLIKELY(banyan_unusual) && (code = banyan_detour(#function))) \
			return code;                                              \
	} while (0)

// A function that does its work in Go. Where something is unusual it goes on in a copy of its own: a call in
// the middle would have it save its parameters, every time.
#define ENTRY(name, params, arguments, work)                             \
	static __attribute__((cold, noinline)) int unusual_##name params \
	{                                                                \
		GUARD(name);                                             \
		return work;                                             \
	}                                                                \
	int P##name params                                               \
	{                                                                \
		if (UNLIKELY(banyan_unusual))                            \
			return unusual_##name arguments;                 \
		return work;                                             \
	}                                                                \
	ALIAS(int, name, params)

// banyan_note_callers keeps who has called a function of MPI; see place.h.
void banyan_note_callers(void);

#define HANDLE(h) ((uintptr_t)(h))

// Go may not hold a pointer to the first page, where MPI_IN_PLACE and its like are: they
// go to the last page of the address space. See binding.InPlace.
static inline void *banyan_pointer(const void *p)
{
	uintptr_t u = (uintptr_t)p;
	return (void *)(UNLIKELY(u - 1 < 4095) ? u - 4096 : u);
}
#define POINTER(p) banyan_pointer((const void *)(p))

// Codes from here on ask for a call of the program's error handler first.
#define BANYAN_RAISED (1 << 24)
int banyan_raise(int code);

static inline int banyan_result(int code)
{
	return UNLIKELY(code >= BANYAN_RAISED) ? banyan_raise(code) : code;
}
#define RESULT(code) banyan_result(code)

// Functions that aren't implemented say so once.
#define NO_OBJECT 0
int banyan_missing(int *said, const char *function, uintptr_t comm);
int banyan_missing_quiet(int *said, const char *function, int code);

#pragma GCC visibility pop

#define MISSING(function, comm)                                       \
	do {                                                          \
		static int said;                                      \
		GUARD(function);                                      \
		return banyan_missing(&said, #function, comm);        \
	} while (0)
// The error handler of files returns, unless the program changes that; of the tool
// interface, there is none.
#define MISSING_FILE(function)                                        \
	do {                                                          \
		static int said;                                      \
		return banyan_missing_quiet(&said, #function, MPI_ERR_UNSUPPORTED_OPERATION); \
	} while (0)
#define MISSING_TOOL(function)                                        \
	do {                                                          \
		static int said;                                      \
		return banyan_missing_quiet(&said, #function, MPI_T_ERR_NOT_SUPPORTED); \
	} while (0)

#endif
