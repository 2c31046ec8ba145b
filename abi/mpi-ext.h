/* mpi-ext.h: what Banyan offers C programs beyond the standard. A replica that dies is
   replaced by a new process ("banyan run --replicas 2 --heal"), which takes over the
   program's state from a live replica at a safe point of its main loop:

     MPIX_State_register("step", &step, 1, MPI_INT);
     MPIX_State_register("plate", plate, cells, MPI_DOUBLE);
     for (; step < steps; step++) {
             MPIX_Safepoint(NULL);
             ...
     }

   Under any other MPI, and in jobs without healing, the calls do nothing and succeed. This
   header is all that takes: a program may bring a copy of it, is compiled by any
   mpicc, and runs wherever its MPI library does. (Open MPI has a header of this name:
   with a copy of this one, include it as "mpi-ext.h".)

   MPIX_State_register    count elements of a datatype without gaps, at an address, are part of
                          the program's state, under a name of 1 to 200 bytes. The memory
                          must stay. Other replicas register as many bytes by this name.
                          MPI_ERR_ARG: the name is taken, or no name; MPI_ERR_TYPE: the datatype
                          has gaps; MPI_ERR_COUNT, MPI_ERR_BUFFER.
   MPIX_State_unregister  takes it out again. MPI_ERR_ARG: nothing has this name.
   MPIX_Safepoint         here what is registered, with what MPI keeps, is all that there is to the
                          program: no request is active, no other thread uses MPI, and the handles
                          (communicators, datatypes, ...) are those of the first call. *restored
                          (if restored isn't NULL) is 1 in the first call of a process that takes
                          a dead one's place, when the memory has its new contents, else 0.

   All return MPI_SUCCESS or do what the error handler of MPI_COMM_SELF says
   (that of MPI_COMM_WORLD, if that of MPI_COMM_SELF is as it was). See docs/guide/replication.md. */
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

/* The library's functions, where it has them: whether it does is known when the program
   is loaded. */
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
