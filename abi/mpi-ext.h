/* mpi-ext.h: Banyan's extensions to MPI for C programs: state of programs, and fault tolerance.

   State of programs: with "banyan run --replicas 2 --heal" a
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
   MPIX_State_register_function
                          lets two functions give and take a part of the state, for memory that
                          isn't known by its address and length before. At a safe point
                          save(extra, &count, &pieces) gives the memory where it lies, which
                          the library reads before the program goes on, and
                          load(extra, data, length) takes what save had given another process, at
                          most 4 GiB, which it may read until it returns. Neither may call MPI. Both return
                          MPI_SUCCESS, or another code if they can't. MPI_ERR_ARG: as above, or a
                          function is NULL.
   MPIX_State_unregister  removes a part. MPI_ERR_ARG: no state has this name.
   MPIX_Safepoint         is where the registered memory and MPI's own state are the program's
                          whole state: no request is active, no other thread uses MPI, and the
                          handles (communicators, datatypes, ...) are those of the first call.
                          If restored isn't NULL, *restored is 1 in the first call of a process
                          that replaces a dead one, when the memory has its new contents, else 0.

   MPIX_Expect_safepoints says how many safe points the program passes in all, from its beginning to
                          its end, for people who watch it (banyan run --status): they are shown
                          how much is left. Each rank says it, with its own number; a replacement
                          says the same again. 0: unknown. MPI_ERR_COUNT: it is negative.

   All return MPI_SUCCESS, or do as the error handler of MPI_COMM_SELF says (that of
   MPI_COMM_WORLD, while MPI_COMM_SELF has the default one). See docs/guide/replication.md.

   Fault tolerance (ULFM): what programs use that handle the deaths of ranks themselves, in jobs
   without replicas. See docs/guide/ulfm.md. The library has these functions by their MPIX_, PMPIX_,
   MPI_ and PMPI_ names. The numbers of the error classes and of MPIX_FT are provisional, until the
   standard's ABI has them. Under another MPI its own header says what
   there is. */
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

typedef struct MPIX_State_piece {
	void *address;
	MPI_Count length;
} MPIX_State_piece;
typedef int MPIX_State_save_function(void *extra, int *count, const MPIX_State_piece **pieces);
typedef int MPIX_State_load_function(void *extra, const void *data, MPI_Count length);

/* The library's functions. They are weak, because only the loader knows whether the MPI library
   has them. */
#ifdef __ELF__
int PMPIX_State_register(const char *name, void *address, MPI_Count count, MPI_Datatype datatype) __attribute__((weak));
int PMPIX_State_register_function(const char *name, MPIX_State_save_function *save, MPIX_State_load_function *load, void *extra) __attribute__((weak));
int PMPIX_State_unregister(const char *name) __attribute__((weak));
int PMPIX_Safepoint(int *restored) __attribute__((weak));
int PMPIX_Expect_safepoints(MPI_Count total) __attribute__((weak));
#define BANYAN_CALL(function, arguments, otherwise) (PMPIX_##function ? PMPIX_##function arguments : (otherwise))
#else
#define BANYAN_CALL(function, arguments, otherwise) (otherwise)
#endif

static inline int MPIX_State_register(const char *name, void *address, MPI_Count count, MPI_Datatype datatype)
{
	(void)name, (void)address, (void)count, (void)datatype;
	return BANYAN_CALL(State_register, (name, address, count, datatype), MPI_SUCCESS);
}

static inline int MPIX_State_register_function(const char *name, MPIX_State_save_function *save, MPIX_State_load_function *load, void *extra)
{
	(void)name, (void)save, (void)load, (void)extra;
	return BANYAN_CALL(State_register_function, (name, save, load, extra), MPI_SUCCESS);
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

static inline int MPIX_Expect_safepoints(MPI_Count total)
{
	(void)total;
	return BANYAN_CALL(Expect_safepoints, (total), MPI_SUCCESS);
}

#undef BANYAN_CALL

/* Fault tolerance, where the library is one of the standard ABI. */
#ifdef MPI_ABI_VERSION

#define MPIX_ERR_PROC_FAILED 16128
#define MPIX_ERR_PROC_FAILED_PENDING 16129
#define MPIX_ERR_REVOKED 16130
#define MPI_ERR_PROC_FAILED MPIX_ERR_PROC_FAILED
#define MPI_ERR_PROC_FAILED_PENDING MPIX_ERR_PROC_FAILED_PENDING
#define MPI_ERR_REVOKED MPIX_ERR_REVOKED

/* Each function has four names: the extension's, the proposed standard's, and theirs for profiling. */
#define BANYAN_NAMES(name, parameters) int MPIX_##name parameters; int PMPIX_##name parameters; int MPI_##name parameters; int PMPI_##name parameters
BANYAN_NAMES(Comm_revoke, (MPI_Comm comm));
BANYAN_NAMES(Comm_is_revoked, (MPI_Comm comm, int *flag));
BANYAN_NAMES(Comm_get_failed, (MPI_Comm comm, MPI_Group *failedgrp));
BANYAN_NAMES(Comm_ack_failed, (MPI_Comm comm, int num_to_ack, int *num_acked));
BANYAN_NAMES(Comm_failure_ack, (MPI_Comm comm));
BANYAN_NAMES(Comm_failure_get_acked, (MPI_Comm comm, MPI_Group *failedgrp));
BANYAN_NAMES(Comm_agree, (MPI_Comm comm, int *flag));
BANYAN_NAMES(Comm_iagree, (MPI_Comm comm, int *flag, MPI_Request *request));
BANYAN_NAMES(Comm_agree_failed, (MPI_Comm comm, MPI_Group *failedgrp));
BANYAN_NAMES(Comm_shrink, (MPI_Comm comm, MPI_Comm *newcomm));
BANYAN_NAMES(Comm_ishrink, (MPI_Comm comm, MPI_Comm *newcomm, MPI_Request *request));
#undef BANYAN_NAMES

/* Banyan's own: a communicator of the ranks that live, in which spare ranks, the last ones of comm,
   have taken the numbers of the dead ("banyan run --spare-ranks"). All live ranks call it: spares
   wait in it. */
int MPIX_Comm_refill(MPI_Comm comm, MPI_Comm *newcomm);
int PMPIX_Comm_refill(MPI_Comm comm, MPI_Comm *newcomm);

/* The key of an attribute of each communicator, an int: 1 if programs of this job may handle failures
   themselves, else 0. */
#define MPIX_FT 900
#define MPI_FT MPIX_FT
/* The same for an int: how many of the last ranks of the communicator are spares. */
#define MPIX_SPARES 901

/* By these, programs that are written for Open MPI's header find out what there is. */
#define OMPI_HAVE_MPI_EXT_FTMPI 1
#define OMPI_HAVE_MPIX_COMM_REVOKE 1
#define OMPI_HAVE_MPIX_COMM_IS_REVOKED 1
#define OMPI_HAVE_MPIX_COMM_GET_FAILED 1
#define OMPI_HAVE_MPIX_COMM_ACK_FAILED 1
#define OMPI_HAVE_MPIX_COMM_FAILURE_ACK 1
#define OMPI_HAVE_MPIX_COMM_FAILURE_GET_ACKED 1
#define OMPI_HAVE_MPIX_COMM_AGREE 1
#define OMPI_HAVE_MPIX_COMM_IAGREE 1
#define OMPI_HAVE_MPIX_COMM_AGREE_FAILED 1
#define OMPI_HAVE_MPIX_COMM_SHRINK 1
#define OMPI_HAVE_MPIX_COMM_ISHRINK 1
#define BANYAN_HAVE_MPIX_COMM_REFILL 1

#endif

#ifdef __cplusplus
}
#endif

#endif
