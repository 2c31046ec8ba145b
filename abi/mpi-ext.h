/* mpi-ext.h: Banyan's extensions to MPI for C programs. With "banyan run --replicas 2 --heal" a
   new process replaces a replica that dies. It takes over the program's state from a live
   replica, at a safe point of the program's main loop:

     MPIX_State_register("step", &step, 1, MPI_INT);
     MPIX_State_register("plate", plate, cells, MPI_DOUBLE);
     for (; step < steps; step++) {
             MPIX_Safepoint(NULL);
             ...
     }

   Under any other MPI, and in jobs without healing, the calls do nothing and succeed. A program
   needs only this header, and may bring a copy of it: any mpicc compiles the program, and it
   runs wherever its MPI library does. (Open MPI has a header of this name too. Include a
   copy of this one as "mpi-ext.h".)

   MPIX_State_register    makes count elements of a datatype at an address part of the program's
                          state, under a name of 1 to 200 bytes. The datatype has no gaps, and
                          the memory must stay valid. Each replica registers the same number of
                          bytes under this name. MPI_ERR_ARG: the name is taken, empty or too
                          long; MPI_ERR_TYPE: the datatype has gaps; MPI_ERR_COUNT,
                          MPI_ERR_BUFFER.
   MPIX_State_unregister  removes it. MPI_ERR_ARG: no state has this name.
   MPIX_Safepoint         is where the registered memory and MPI's own state are the program's
                          whole state: no request is active, no other thread uses MPI, and the
                          handles (communicators, datatypes, ...) are those of the first call.
                          If restored isn't NULL, *restored is 1 in the first call of a process
                          that replaces a dead one, when the memory has its new contents, else 0.

   All return MPI_SUCCESS, or do as the error handler of MPI_COMM_SELF says (that of
   MPI_COMM_WORLD, while MPI_COMM_SELF has the default one). See docs/guide/replication.md. */
#ifndef BANYAN_MPI_EXT_H
#define BANYAN_MPI_EXT_H

#include <mpi.h>

#if defined(OPEN_MPI) && defined(__has_include_next)
#if __has_include_next(<mpi-ext.h>)
#include_next <mpi-ext.h>
#endif
#endif

#ifdef __cplusplus
extern "C" {
#endif

/* The library's functions. They are weak, because only the loader knows whether the MPI library
   has them. */
#ifdef __ELF__
int PMPIX_State_register(const char *name, void *address, MPI_Count count, MPI_Datatype datatype) __attribute__((weak));
int PMPIX_State_unregister(const char *name) __attribute__((weak));
int PMPIX_Safepoint(int *restored) __attribute__((weak));
#define BANYAN_CALL(function, arguments, otherwise) (PMPIX_##function ? PMPIX_##function arguments : (otherwise))
#else
#define BANYAN_CALL(function, arguments, otherwise) (otherwise)
#endif

static inline int MPIX_State_register(const char *name, void *address, MPI_Count count, MPI_Datatype datatype)
{
	(void)name, (void)address, (void)count, (void)datatype;
	return BANYAN_CALL(State_register, (name, address, count, datatype), MPI_SUCCESS);
}

static inline int MPIX_State_unregister(const char *name)
{
	(void)name;
	return BANYAN_CALL(State_unregister, (name), MPI_SUCCESS);
}

static inline int MPIX_Safepoint(int *restored)
{
	if (restored)
		*restored = 0;
	return BANYAN_CALL(Safepoint, (restored), MPI_SUCCESS);
}

#undef BANYAN_CALL

#ifdef __cplusplus
}
#endif

#endif
