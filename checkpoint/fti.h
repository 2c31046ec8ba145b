/* fti.h: programs that were written for FTI's interface heal and roll back under Banyan.

   This header and libbanyan-fti are Banyan's own. They have the functions of FTI's documentation that
   protect memory, save and recover it. The state of an FTI_Checkpoint or FTI_Snapshot is a program's
   state at a safe point (mpi-ext.h): Banyan keeps it if the job runs with --rollback or with --heal,
   as often as --snapshot-every says. See docs/guide/checkpoints.md. */
#ifndef BANYAN_FTI_H
#define BANYAN_FTI_H

#include <stdbool.h>
#include <stddef.h>

#include <mpi.h>

#define FTI_BUFS 256
#define FTI_DONE 1
#define FTI_SCES 0
#define FTI_NSCS (-1)
#define FTI_NREC (-2)

/* Levels of checkpoints: they are all kept alike. */
#define FTI_L1 1
#define FTI_L2 2
#define FTI_L3 3
#define FTI_L4 4

/* A type of data is a number. FTI_InitType gives more. */
typedef int fti_id_t;
typedef fti_id_t FTIT_type;
enum {
	FTI_CHAR,
	FTI_SHRT,
	FTI_INTG,
	FTI_LONG,
	FTI_UCHR,
	FTI_USHT,
	FTI_UINT,
	FTI_ULNG,
	FTI_SFLT,
	FTI_DBLE,
	FTI_LDBE
};

/* Groups of HDF5 files, which aren't written. */
typedef struct FTIT_H5Group {
	int id;
} FTIT_H5Group;

#ifdef __cplusplus
extern "C" {
#endif

/* The communicator of the program's ranks: all of FTI_Init's. */
extern MPI_Comm FTI_COMM_WORLD;

int FTI_Init(const char *configFile, MPI_Comm globalComm);
int FTI_Finalize(void);
int FTI_Status(void);

int FTI_InitType(fti_id_t *type, int size);
fti_id_t FTI_InitCompositeType(const char *name, size_t size, FTIT_H5Group *h5g);
int FTI_AddScalarField(fti_id_t id, const char *name, fti_id_t fid, size_t offset);
int FTI_AddVectorField(fti_id_t id, const char *name, fti_id_t fid, size_t offset, int ndims, int *dim_sizes);
int FTI_InitGroup(FTIT_H5Group *h5group, const char *name, FTIT_H5Group *parent);
int FTI_RenameGroup(FTIT_H5Group *h5group, const char *name);

int FTI_setIDFromString(const char *name);
int FTI_getIDFromString(const char *name);
int FTI_Protect(int id, void *ptr, long count, fti_id_t type);
int FTI_DefineDataset(int id, int rank, int *dimLength, const char *name, FTIT_H5Group *h5group);
long FTI_GetStoredSize(int id);
void *FTI_Realloc(int id, void *ptr);

int FTI_Checkpoint(int id, int level);
int FTI_Snapshot(void);
int FTI_InitICP(int id, int level, bool activate);
int FTI_AddVarICP(int varID);
int FTI_FinalizeICP(void);
int FTI_Recover(void);
int FTI_RecoverVarInit(void);
int FTI_RecoverVar(int id);
int FTI_RecoverVarFinalize(void);

#ifdef __cplusplus
}
#endif

#endif
