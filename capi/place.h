// place.h: where in a program in C or Fortran a function of MPI is called from.
#ifndef BANYAN_PLACE_H
#define BANYAN_PLACE_H

#include <stdint.h>

#define BANYAN_CALLERS 8

// banyan_watch_callers has every call from now on keep its callers.
void banyan_watch_callers(void);

// banyan_callers are the return addresses of the thread's present call, innermost
// first, with 0 behind the last.
const uintptr_t *banyan_callers(void);

// banyan_locate says to which file an address belongs ("": to the program's own), and what its
// address is there, as the linker placed it. It returns 0 for addresses in MPI's own libraries, and in none.
int banyan_locate(uintptr_t address, const char **file, uintptr_t *linked);

#endif
