// VeloC's interface. A checkpoint is a safe point at its end. VELOC_Restart_test is the first safe
// point of a program: there a process that goes on gets its state, before it has decided anything by it.
#define _GNU_SOURCE

#include "veloc.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "kept.h"

// A phase is between begin and end of a checkpoint or restart.
enum phase { NONE, CHECKPOINT, RESTART };

static struct {
	int begun;
	enum phase phase;
	char name[KEPT_NAME];
	int version;
	enum kept_what what;
	int file; // memory as a file, of which programs get a name; -1: none
	int routed; // the program has asked for it in this phase
} veloc;

static int ready(const char *function, enum phase phase)
{
	static const char *const names[] = {"outside of a checkpoint or restart", "in a checkpoint", "in a restart"};
	if (!veloc.begun)
		return kept_said(0, "%s before VELOC_Init", function);
	if (veloc.phase != phase)
		return kept_said(0, "%s is called %s, and not %s", function, names[phase], names[veloc.phase]);
	return 1;
}

int VELOC_Init(MPI_Comm comm, const char *cfg_file)
{
	(void)cfg_file; // it says where files go, and there are none
	if (veloc.begun)
		return kept_said(VELOC_FAILURE, "VELOC_Init is called twice");
	if (kept_begin("VeloC", comm) != MPI_SUCCESS)
		return VELOC_FAILURE;
	memset(&veloc, 0, sizeof veloc);
	veloc.begun = 1, veloc.file = -1;
	return VELOC_SUCCESS;
}

int VELOC_Init_single(unsigned int unique_id, const char *cfg_file)
{
	(void)unique_id, (void)cfg_file;
	return kept_said(VELOC_FAILURE, "VELOC_Init_single: all ranks of a job go back together, so there are no checkpoints of single ones");
}

int VELOC_Finalize(int drain)
{
	(void)drain;
	if (!veloc.begun)
		return VELOC_FAILURE;
	if (veloc.file >= 0)
		close(veloc.file);
	veloc.begun = 0;
	kept_end();
	return VELOC_SUCCESS;
}

int VELOC_Mem_protect(int id, void *ptr, size_t count, size_t base_size)
{
	size_t length;
	if (!veloc.begun)
		return kept_said(VELOC_FAILURE, "VELOC_Mem_protect before VELOC_Init");
	if (__builtin_mul_overflow(count, base_size, &length) || (length > 0 && !ptr))
		return kept_said(VELOC_FAILURE, "VELOC_Mem_protect: %zu elements of %zu bytes at %p", count, base_size, ptr);
	return kept_protect(id, ptr, length) == MPI_SUCCESS ? VELOC_SUCCESS : VELOC_FAILURE;
}

int VELOC_Mem_unprotect(int id) { return veloc.begun && kept_unprotect(id) ? VELOC_SUCCESS : VELOC_FAILURE; }

static int recover_all(const struct kept_checkpoint *c)
{
	for (size_t i = 0; i < c->count; i++)
		if (!kept_recover(c, &c->memory[i]))
			return VELOC_FAILURE;
	return VELOC_SUCCESS;
}

static int enter(const char *function, enum phase phase, const char *name, int version)
{
	if (!ready(function, NONE))
		return VELOC_FAILURE;
	if (!name || !*name || strlen(name) >= KEPT_NAME || version < 0)
		return kept_said(VELOC_FAILURE, "%s: a checkpoint \"%.300s\" %d can't be", function, name ? name : "", version);
	snprintf(veloc.name, sizeof veloc.name, "%s", name);
	veloc.phase = phase, veloc.version = version, veloc.what = KEPT_NOTHING, veloc.routed = 0;
	return VELOC_SUCCESS;
}

int VELOC_Checkpoint_begin(const char *name, int version)
{
	return enter("VELOC_Checkpoint_begin", CHECKPOINT, name, version);
}

int VELOC_Checkpoint_mem(void)
{
	if (!ready("VELOC_Checkpoint_mem", CHECKPOINT))
		return VELOC_FAILURE;
	veloc.what = KEPT_ALL;
	return VELOC_SUCCESS;
}

int VELOC_Checkpoint_end(int success)
{
	if (!ready("VELOC_Checkpoint_end", CHECKPOINT))
		return VELOC_FAILURE;
	veloc.phase = NONE;
	// Without it this process would have one safe point less than the others.
	if (!success)
		veloc.what = KEPT_REFUSED;
	int restored;
	if (kept_point(veloc.name, veloc.version, veloc.what, veloc.routed ? veloc.file : -1, &restored) != MPI_SUCCESS)
		return VELOC_FAILURE;
	// A program that hasn't asked for a restart goes on from here as well.
	if (restored && kept_loaded())
		return recover_all(kept_loaded());
	return success ? VELOC_SUCCESS : VELOC_FAILURE;
}

int VELOC_Checkpoint(const char *name, int version)
{
	if (VELOC_Checkpoint_begin(name, version) != VELOC_SUCCESS || VELOC_Checkpoint_mem() != VELOC_SUCCESS)
		return VELOC_FAILURE;
	return VELOC_Checkpoint_end(1);
}

int VELOC_Checkpoint_wait(void) { return veloc.begun ? VELOC_SUCCESS : VELOC_FAILURE; }

int VELOC_Restart_test(const char *name, int max_ver)
{
	if (!ready("VELOC_Restart_test", NONE) || kept_first() != MPI_SUCCESS)
		return VELOC_FAILURE;
	const struct kept_checkpoint *c = kept_loaded();
	if (!c || !name || strcmp(c->name, name) != 0 || (max_ver > 0 && c->version >= max_ver))
		return VELOC_FAILURE;
	return (int)c->version;
}

int VELOC_Restart_begin(const char *name, int version)
{
	if (enter("VELOC_Restart_begin", RESTART, name, version) != VELOC_SUCCESS)
		return VELOC_FAILURE;
	const struct kept_checkpoint *c = kept_first() == MPI_SUCCESS ? kept_loaded() : NULL;
	if (c && strcmp(c->name, name) == 0 && c->version == version)
		return VELOC_SUCCESS;
	veloc.phase = NONE;
	if (!c)
		return kept_said(VELOC_FAILURE, "VELOC_Restart_begin: this process doesn't go on from a checkpoint");
	return kept_said(VELOC_FAILURE, "VELOC_Restart_begin: there is no checkpoint \"%s\" %d, but \"%s\" %lld", name, version, c->name, (long long)c->version);
}

static int among(int id, const int *ids, int length)
{
	for (int i = 0; i < length; i++)
		if (ids[i] == id)
			return 1;
	return 0;
}

int VELOC_Recover_selective(int mode, int *ids, int length)
{
	if (!ready("VELOC_Recover_selective", RESTART))
		return VELOC_FAILURE;
	if (mode < VELOC_RECOVER_ALL || mode > VELOC_RECOVER_REST || length < 0 || (mode != VELOC_RECOVER_ALL && length > 0 && !ids))
		return kept_said(VELOC_FAILURE, "VELOC_Recover_selective: mode %d, %d numbers at %p", mode, length, (void *)ids);
	const struct kept_checkpoint *c = kept_loaded();
	for (int i = 0; mode == VELOC_RECOVER_SOME && i < length; i++)
		if (!kept_stored(c, ids[i]))
			return kept_said(VELOC_FAILURE, "VELOC_Recover_selective: checkpoint \"%s\" %d has no memory %d", veloc.name, veloc.version, ids[i]);
	for (size_t i = 0; i < c->count; i++)
		if (mode == VELOC_RECOVER_ALL || among(c->memory[i].id, ids, length) == (mode == VELOC_RECOVER_SOME))
			if (!kept_recover(c, &c->memory[i]))
				return VELOC_FAILURE;
	return VELOC_SUCCESS;
}

int VELOC_Recover_mem(void) { return VELOC_Recover_selective(VELOC_RECOVER_ALL, NULL, 0); }

int VELOC_Recover_size(int id)
{
	if (!ready("VELOC_Recover_size", RESTART))
		return VELOC_FAILURE;
	const struct kept_memory *m = kept_stored(kept_loaded(), id);
	return m && m->length <= 0x7fffffff ? (int)m->length : VELOC_FAILURE;
}

int VELOC_Restart_end(int success)
{
	if (!ready("VELOC_Restart_end", RESTART))
		return VELOC_FAILURE;
	veloc.phase = NONE;
	return success ? VELOC_SUCCESS : VELOC_FAILURE;
}

int VELOC_Restart(const char *name, int version)
{
	if (VELOC_Restart_begin(name, version) != VELOC_SUCCESS)
		return VELOC_FAILURE;
	int code = VELOC_Recover_mem();
	return VELOC_Restart_end(code == VELOC_SUCCESS);
}

// make_file makes the memory that a program fills or reads as a file.
static int make_file(void)
{
	if (veloc.file < 0)
		veloc.file = memfd_create("veloc-checkpoint", MFD_CLOEXEC);
	if (veloc.file < 0 || ftruncate(veloc.file, 0) != 0)
		return 0;
	const struct kept_checkpoint *c = kept_loaded();
	size_t length = veloc.phase == RESTART ? c->file_length : 0;
	for (size_t at = 0; at < length;) {
		ssize_t n = pwrite(veloc.file, c->file + at, length - at, (off_t)at);
		if (n <= 0)
			return 0;
		at += (size_t)n;
	}
	return 1;
}

int VELOC_Route_file(const char *original_name, char *ckpt_file_name)
{
	(void)original_name; // that of a file in a file system
	if (!ckpt_file_name || !ready("VELOC_Route_file", veloc.phase == RESTART ? RESTART : CHECKPOINT))
		return VELOC_FAILURE;
	if (veloc.phase == RESTART && !kept_loaded()->has_file)
		return kept_said(VELOC_FAILURE, "VELOC_Route_file: checkpoint \"%s\" %d has no file", veloc.name, veloc.version);
	if (!veloc.routed && !make_file())
		return kept_said(VELOC_FAILURE, "VELOC_Route_file: there is no memory for the file");
	veloc.routed = 1;
	snprintf(ckpt_file_name, VELOC_MAX_NAME, "/proc/self/fd/%d", veloc.file);
	return VELOC_SUCCESS;
}
