/* veloc.h: programs that were written for VeloC's interface heal and roll back under Banyan.

   This header and libbanyan-veloc are Banyan's own. They have the functions of VeloC's documentation
   for memory and for files. The state of a VELOC_Checkpoint is a program's state at a safe point
   (mpi-ext.h): Banyan keeps it if the job runs with --rollback or with --heal, as often as
   --snapshot-every says. See docs/guide/checkpoints.md. */
#ifndef BANYAN_VELOC_H
#define BANYAN_VELOC_H

#include <stddef.h>

#include <mpi.h>

#define VELOC_SUCCESS 0
#define VELOC_FAILURE (-1)

/* Enough for VELOC_Route_file. */
#define VELOC_MAX_NAME 1024

/* Modes of VELOC_Recover_selective. */
#define VELOC_RECOVER_ALL 0
#define VELOC_RECOVER_SOME 1
#define VELOC_RECOVER_REST 2

#ifdef __cplusplus
extern "C" {
#endif

int VELOC_Init(MPI_Comm comm, const char *cfg_file);
int VELOC_Init_single(unsigned int unique_id, const char *cfg_file);
int VELOC_Finalize(int drain);

int VELOC_Mem_protect(int id, void *ptr, size_t count, size_t base_size);
int VELOC_Mem_unprotect(int id);

int VELOC_Checkpoint(const char *name, int version);
int VELOC_Checkpoint_wait(void);
int VELOC_Checkpoint_begin(const char *name, int version);
int VELOC_Checkpoint_mem(void);
int VELOC_Checkpoint_end(int success);

int VELOC_Restart_test(const char *name, int max_ver);
int VELOC_Restart(const char *name, int version);
int VELOC_Restart_begin(const char *name, int version);
int VELOC_Recover_mem(void);
int VELOC_Recover_selective(int mode, int *ids, int length);
int VELOC_Recover_size(int id);
int VELOC_Restart_end(int success);

int VELOC_Route_file(const char *original_name, char *ckpt_file_name);

#ifdef __cplusplus
}
#endif

#endif
