// FTI's interface. FTI_Checkpoint and FTI_Snapshot are safe points. FTI_Status and FTI_Recover are, if
// there was none before: there a process that goes on gets its state, before it has decided anything
// by it.

#include "fti.h"

#include <stdlib.h>
#include <string.h>

#include "kept.h"

MPI_Comm FTI_COMM_WORLD = MPI_COMM_NULL;

// Numbers that are made from names are far from those that programs choose.
enum { FIRST_NAMED = 1 << 24 };

static struct {
	int begun;
	int asked;               // whether the process goes on from a checkpoint
	int recovering;          // the process goes on from a checkpoint, and its program hasn't recovered it yet
	size_t *sizes;           // of the types of data
	int types;
	char **names;            // of memory
	int named;
	int incremental, active; // between FTI_InitICP and FTI_FinalizeICP; with a checkpoint
	int number;              // of it
} fti;

static const size_t basic[] = {sizeof(char), sizeof(short), sizeof(int), sizeof(long), sizeof(char), sizeof(short), sizeof(int), sizeof(long),
	sizeof(float), sizeof(double), sizeof(long double)};

static int ready(const char *function) { return fti.begun ? 1 : kept_said(0, "%s before FTI_Init", function); }

// type_of adds a type, and gives its number; -1: there is no memory.
static int type_of(size_t size)
{
	if (!fti.sizes) {
		if (!(fti.sizes = malloc(sizeof basic)))
			return -1;
		memcpy(fti.sizes, basic, sizeof basic);
		fti.types = sizeof basic / sizeof *basic;
	}
	size_t *more = realloc(fti.sizes, (size_t)(fti.types + 1) * sizeof *more);
	if (!more)
		return -1;
	fti.sizes = more;
	fti.sizes[fti.types] = size;
	return fti.types++;
}

static size_t size_of(fti_id_t type)
{
	if (type >= 0 && type < (int)(sizeof basic / sizeof *basic))
		return basic[type];
	return type >= 0 && type < fti.types ? fti.sizes[type] : 0;
}

int FTI_Init(const char *configFile, MPI_Comm globalComm)
{
	(void)configFile; // it says where files go and how often, and neither is up to this library
	if (fti.begun)
		return kept_said(FTI_NSCS, "FTI_Init is called twice");
	if (kept_begin("FTI", globalComm) != MPI_SUCCESS)
		return FTI_NSCS;
	FTI_COMM_WORLD = globalComm;
	fti.begun = 1;
	return FTI_SCES;
}

int FTI_Finalize(void)
{
	if (!fti.begun)
		return FTI_NSCS;
	for (int i = 0; i < fti.named; i++)
		free(fti.names[i]);
	free(fti.names);
	free(fti.sizes);
	memset(&fti, 0, sizeof fti);
	FTI_COMM_WORLD = MPI_COMM_NULL;
	kept_end();
	return FTI_SCES;
}

// first gets the state of a process that goes on.
static int first(void)
{
	if (fti.asked)
		return 1;
	fti.asked = 1;
	if (kept_first() != MPI_SUCCESS)
		return 0;
	fti.recovering = kept_loaded() != NULL;
	return 1;
}

int FTI_Status(void)
{
	if (!ready("FTI_Status") || !first())
		return FTI_NSCS;
	return fti.recovering;
}

int FTI_InitType(fti_id_t *type, int size)
{
	int made = size >= 0 ? type_of((size_t)size) : -1;
	if (!type || made < 0)
		return kept_said(FTI_NSCS, "FTI_InitType: a type of %d bytes", size);
	*type = made;
	return FTI_SCES;
}

fti_id_t FTI_InitCompositeType(const char *name, size_t size, FTIT_H5Group *h5g)
{
	(void)name, (void)h5g;
	return type_of(size);
}

int FTI_AddScalarField(fti_id_t id, const char *name, fti_id_t fid, size_t offset)
{
	(void)name;
	return size_of(id) >= offset + size_of(fid) ? FTI_SCES : FTI_NSCS;
}

int FTI_AddVectorField(fti_id_t id, const char *name, fti_id_t fid, size_t offset, int ndims, int *dim_sizes)
{
	(void)ndims, (void)dim_sizes;
	return FTI_AddScalarField(id, name, fid, offset);
}

int FTI_InitGroup(FTIT_H5Group *h5group, const char *name, FTIT_H5Group *parent)
{
	(void)name, (void)parent;
	if (!h5group)
		return FTI_NSCS;
	h5group->id = 1;
	return FTI_SCES;
}

int FTI_RenameGroup(FTIT_H5Group *h5group, const char *name)
{
	(void)name;
	return h5group ? FTI_SCES : FTI_NSCS;
}

int FTI_getIDFromString(const char *name)
{
	for (int i = 0; name && i < fti.named; i++)
		if (strcmp(fti.names[i], name) == 0)
			return FIRST_NAMED + i;
	return FTI_NSCS;
}

int FTI_setIDFromString(const char *name)
{
	if (!name || !ready("FTI_setIDFromString"))
		return FTI_NSCS;
	int known = FTI_getIDFromString(name);
	if (known != FTI_NSCS)
		return known;
	char **more = realloc(fti.names, (size_t)(fti.named + 1) * sizeof *more);
	if (!more)
		return FTI_NSCS;
	fti.names = more;
	if (!(fti.names[fti.named] = strdup(name)))
		return FTI_NSCS;
	return FIRST_NAMED + fti.named++;
}

int FTI_Protect(int id, void *ptr, long count, fti_id_t type)
{
	if (!ready("FTI_Protect"))
		return FTI_NSCS;
	size_t size = size_of(type), length;
	if (count < 0 || __builtin_mul_overflow((size_t)count, size, &length) || (length > 0 && !ptr) || (size == 0 && count > 0))
		return kept_said(FTI_NSCS, "FTI_Protect: memory %d: %ld elements of type %d at %p", id, count, type, ptr);
	return kept_protect(id, ptr, length) == MPI_SUCCESS ? FTI_SCES : FTI_NSCS;
}

int FTI_DefineDataset(int id, int rank, int *dimLength, const char *name, FTIT_H5Group *h5group)
{
	(void)rank, (void)dimLength, (void)name, (void)h5group;
	return kept_find(id) ? FTI_SCES : FTI_NSCS;
}

long FTI_GetStoredSize(int id)
{
	if (!ready("FTI_GetStoredSize") || !first() || !kept_loaded())
		return 0;
	const struct kept_memory *m = kept_stored(kept_loaded(), id);
	return m ? (long)m->length : 0;
}

void *FTI_Realloc(int id, void *ptr)
{
	if (!ready("FTI_Realloc") || !first())
		return NULL;
	const struct kept_memory *m = kept_loaded() ? kept_stored(kept_loaded(), id) : NULL;
	if (!m || !kept_find(id)) {
		kept_said(0, "FTI_Realloc: there is no memory %d to recover", id);
		return NULL;
	}
	void *made = realloc(ptr, m->length ? m->length : 1);
	if (made)
		kept_protect(id, made, m->length);
	return made;
}

static int recover_all(void)
{
	const struct kept_checkpoint *c = kept_loaded();
	if (!c)
		return FTI_NREC;
	for (size_t i = 0; i < c->count; i++)
		if (!kept_recover(c, &c->memory[i]))
			return FTI_NREC;
	fti.recovering = 0;
	return FTI_SCES;
}

// point is a checkpoint. A program that hasn't asked whether it goes on does so from here as well.
static int point(int number, enum kept_what what, int saved)
{
	int restored;
	fti.asked = 1;
	if (kept_point("", number, what, -1, &restored) != MPI_SUCCESS)
		return FTI_NSCS;
	return restored && kept_loaded() ? recover_all() : saved;
}

int FTI_Checkpoint(int id, int level)
{
	if (!ready("FTI_Checkpoint"))
		return FTI_NSCS;
	if (level < FTI_L1)
		return kept_said(FTI_NSCS, "FTI_Checkpoint: there is no level %d", level);
	return point(id, KEPT_ALL, FTI_DONE);
}

// It can't tell whether this is one of those that Banyan keeps, nor may replicas learn different things.
int FTI_Snapshot(void)
{
	if (!ready("FTI_Snapshot"))
		return FTI_NSCS;
	return fti.recovering ? recover_all() : point(0, KEPT_ALL, FTI_SCES);
}

int FTI_InitICP(int id, int level, bool activate)
{
	if (!ready("FTI_InitICP"))
		return FTI_NSCS;
	if (fti.incremental || level < FTI_L1)
		return kept_said(FTI_NSCS, "FTI_InitICP: level %d, %s", level, fti.incremental ? "before FTI_FinalizeICP" : "which there isn't");
	fti.incremental = 1, fti.active = activate, fti.number = id;
	kept_unchoose();
	return FTI_SCES;
}

int FTI_AddVarICP(int varID)
{
	struct kept_memory *m = kept_find(varID);
	if (!fti.incremental || !m)
		return kept_said(FTI_NSCS, "FTI_AddVarICP: memory %d %s", varID, m ? "before FTI_InitICP" : "isn't protected");
	m->chosen = 1;
	return FTI_SCES;
}

int FTI_FinalizeICP(void)
{
	if (!fti.incremental)
		return kept_said(FTI_NSCS, "FTI_FinalizeICP before FTI_InitICP");
	fti.incremental = 0;
	return fti.active ? point(fti.number, KEPT_CHOSEN, FTI_DONE) : FTI_SCES;
}

int FTI_Recover(void)
{
	if (!ready("FTI_Recover") || !first())
		return FTI_NSCS;
	if (!kept_loaded())
		return kept_said(FTI_NREC, "FTI_Recover: this process doesn't go on from a checkpoint");
	return recover_all();
}

int FTI_RecoverVarInit(void) { return fti.begun && first() && kept_loaded() ? FTI_SCES : FTI_NREC; }

int FTI_RecoverVar(int id)
{
	if (!ready("FTI_RecoverVar") || !first())
		return FTI_NSCS;
	const struct kept_memory *m = kept_loaded() ? kept_stored(kept_loaded(), id) : NULL;
	if (!m)
		return kept_said(FTI_NREC, "FTI_RecoverVar: there is no memory %d to recover", id);
	return kept_recover(kept_loaded(), m) ? FTI_SCES : FTI_NREC;
}

int FTI_RecoverVarFinalize(void)
{
	fti.recovering = 0;
	return fti.begun ? FTI_SCES : FTI_NSCS;
}
