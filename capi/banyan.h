// banyan.h: macros and functions of the generated entry points (entry.c) and of the handwritten
// C of the library.
#ifndef BANYAN_H
#define BANYAN_H

#include <stdint.h>

#include "../abi/mpi.h"
#include "_cgo_export.h"

#define UNLIKELY(x) __builtin_expect(!!(x), 0)

// MPI_X is a weak alias of PMPI_X.
#define ALIAS(type, name, params) type name params __attribute__((weak, alias("P" #name)))

// The names below are the library's own. Hidden names are called directly, without the linker's
// tables.
#pragma GCC visibility push(hidden)

// Three unusual situations need work before each function. They are bits of banyan_unusual, and
// banyan_detour does the work.
//
// A child of fork has the memory of the Go runtime but not its threads, so a call into Go might
// never return. fork.c sets BANYAN_FORKED in the child, and banyan_detour returns an error.
// In a job that is checked (banyan check), callsite.c records the callers; in leader order it
// records where the program calls, for an error that ends the job in the middle of the call.
#define BANYAN_FORKED 1
#define BANYAN_CHECKED 2
#define BANYAN_LED 4
extern int banyan_unusual;
int banyan_detour(const char *function, void *caller);

#define GUARD(function)                                                           \
	do {                                                                      \
		int code;                                                         \
		if (UNLIKELY(banyan_unusual) && (code = banyan_detour(#function, __builtin_return_address(0)))) \
			return code;                                              \
	} while (0)

// ENTRY is a function that does its work in Go. In an unusual situation it goes on in a second
// copy of itself: a call in the middle of the first would make it save its parameters always.
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

// banyan_note_callers records the callers of a function of MPI, banyan_note_caller the one that is
// known; see callsite.h.
void banyan_note_callers(void);
void banyan_note_caller(void *caller);

#define HANDLE(h) ((uintptr_t)(h))

// A Go pointer may not point into the first page, where MPI_IN_PLACE and similar constants are.
// banyan_pointer moves them to the last page of the address space. See binding.InPlace.
static inline void *banyan_pointer(const void *p)
{
	uintptr_t u = (uintptr_t)p;
	return (void *)(UNLIKELY(u - 1 < 4095) ? u - 4096 : u);
}
#define POINTER(p) banyan_pointer((const void *)(p))

// A code from here on asks for a call of the program's error handler first.
#define BANYAN_RAISED (1 << 24)
int banyan_raise(int code);

static inline int banyan_result(int code)
{
	return UNLIKELY(code >= BANYAN_RAISED) ? banyan_raise(code) : code;
}
#define RESULT(code) banyan_result(code)

#pragma GCC visibility pop

#endif
