// callsite.h: where in a C or Fortran program a function of MPI is called.
#ifndef BANYAN_CALLSITE_H
#define BANYAN_CALLSITE_H

#include <stdint.h>

#define BANYAN_CALLERS 8

// banyan_watch_callers makes each call from now on record its callers.
void banyan_watch_callers(void);

// banyan_watch_caller makes each call from now on record where the program makes it. It costs a few
// instructions, and sees nothing beyond a library that calls for the program.
void banyan_watch_caller(void);

// banyan_last_words is the address of the error handler of an error that ends the job, and that has
// to tell the line of the program: it records its callers.
uintptr_t banyan_last_words(void);

// banyan_callers are the return addresses of the thread's present call, innermost
// first, with 0 behind the last.
const uintptr_t *banyan_callers(void);

// banyan_locate finds the file that an address belongs to ("": the program's own), and the
// address within it, as the linker assigned it. It returns 0 for addresses in MPI's own
// libraries and in no file.
int banyan_locate(uintptr_t address, const char **file, uintptr_t *linked);

#endif
