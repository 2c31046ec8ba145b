// The state of a program that was written for VeloC or FTI, as a part of a safe point's state:
//
//   struct head, then of each piece of memory its struct entry, then their bytes in this order,
//   then the file's bytes
//
// Both sides are the same program on machines of the same kind, so numbers are as they lie in memory.

#include "kept.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

struct head {
	uint64_t magic;
	int64_t version;
	uint64_t count;       // of entries
	uint64_t file_length; // of the file
	uint32_t has_file, is_checkpoint;
	char name[KEPT_NAME];
};

struct entry {
	int64_t id;
	uint64_t length;
};

static const uint64_t magic = 0x31304b434e594e42; // "BNYNCK01"

static struct {
	const char *library;
	int begun, rank;
	int passed; // a safe point is over
	struct kept_memory *memory;
	size_t count, room;
	struct kept_checkpoint *loaded;
	// What save gives.
	struct head head;
	enum kept_what what;
	int fd;
	struct entry *entries;
	MPIX_State_piece *pieces;
	void *mapped;
	size_t mapped_length;
} kept;

int kept_said(int failure, const char *format, ...)
{
	va_list list;
	va_start(list, format);
	flockfile(stderr);
	fprintf(stderr, "%s: rank %d: ", kept.library ? kept.library : "checkpoint", kept.rank);
	vfprintf(stderr, format, list);
	fputc('\n', stderr);
	funlockfile(stderr);
	va_end(list);
	return failure;
}

struct kept_memory *kept_find(int id)
{
	for (size_t i = 0; i < kept.count; i++)
		if (kept.memory[i].id == id)
			return &kept.memory[i];
	return NULL;
}

int kept_protect(int id, void *address, size_t length)
{
	struct kept_memory *m = kept_find(id);
	if (!m) {
		if (kept.count == kept.room) {
			size_t room = kept.room ? 2 * kept.room : 16;
			struct kept_memory *more = realloc(kept.memory, room * sizeof *more);
			if (!more)
				return MPI_ERR_NO_MEM;
			kept.memory = more, kept.room = room;
		}
		m = &kept.memory[kept.count++];
		memset(m, 0, sizeof *m);
		m->id = id;
	}
	m->address = address, m->length = length;
	return MPI_SUCCESS;
}

int kept_unprotect(int id)
{
	struct kept_memory *m = kept_find(id);
	if (!m)
		return 0;
	memmove(m, m + 1, (size_t)(kept.memory + --kept.count - m) * sizeof *m);
	return 1;
}

void kept_unchoose(void)
{
	for (size_t i = 0; i < kept.count; i++)
		kept.memory[i].chosen = 0;
}

static void unmap(void)
{
	if (kept.mapped)
		munmap(kept.mapped, kept.mapped_length);
	kept.mapped = NULL;
}

// save gives the state of this safe point: memory where it lies, behind its description.
static int save(void *extra, int *count, const MPIX_State_piece **pieces)
{
	(void)extra;
	size_t n = 0;
	if (kept.what == KEPT_REFUSED)
		return MPI_ERR_OTHER;
	kept.entries = realloc(kept.entries, (kept.count + 1) * sizeof *kept.entries);
	kept.pieces = realloc(kept.pieces, (kept.count + 3) * sizeof *kept.pieces);
	if (!kept.entries || !kept.pieces)
		return MPI_ERR_NO_MEM;
	for (size_t i = 0; i < kept.count; i++) {
		const struct kept_memory *m = &kept.memory[i];
		if (kept.what == KEPT_NOTHING || (kept.what == KEPT_CHOSEN && !m->chosen))
			continue;
		kept.entries[n] = (struct entry){m->id, m->length};
		kept.pieces[2 + n++] = (MPIX_State_piece){m->address, (MPI_Count)m->length};
	}
	kept.head.count = n;
	kept.head.has_file = 0, kept.head.file_length = 0;
	kept.pieces[0] = (MPIX_State_piece){&kept.head, sizeof kept.head};
	kept.pieces[1] = (MPIX_State_piece){kept.entries, (MPI_Count)(n * sizeof *kept.entries)};
	unmap();
	if (kept.fd >= 0) {
		struct stat s;
		if (fstat(kept.fd, &s) != 0)
			return MPI_ERR_OTHER;
		kept.head.has_file = 1, kept.head.file_length = (uint64_t)s.st_size;
		if (s.st_size > 0) {
			void *at = mmap(NULL, (size_t)s.st_size, PROT_READ, MAP_SHARED, kept.fd, 0);
			if (at == MAP_FAILED)
				return MPI_ERR_NO_MEM;
			kept.mapped = at, kept.mapped_length = (size_t)s.st_size;
			kept.pieces[2 + n++] = (MPIX_State_piece){at, (MPI_Count)s.st_size};
		}
	}
	*count = (int)(2 + n), *pieces = kept.pieces;
	return MPI_SUCCESS;
}

// load puts a state aside. It believes no number in it.
static int load(void *extra, const void *data, MPI_Count length)
{
	(void)extra;
	struct head head;
	size_t left = (size_t)length;
	if (left < sizeof head)
		return MPI_ERR_TRUNCATE;
	memcpy(&head, data, sizeof head);
	left -= sizeof head;
	if (head.magic != magic || head.count > left / sizeof(struct entry) || !memchr(head.name, 0, sizeof head.name))
		return MPI_ERR_TRUNCATE;
	kept_forget();
	if (!head.is_checkpoint)
		return MPI_SUCCESS;
	struct kept_checkpoint *c = calloc(1, sizeof *c);
	if (!c)
		return MPI_ERR_NO_MEM;
	kept.loaded = c;
	c->version = head.version, c->count = head.count, c->has_file = head.has_file != 0, c->file_length = head.file_length;
	memcpy(c->name, head.name, sizeof c->name);
	c->memory = calloc(c->count + 1, sizeof *c->memory);
	c->data = malloc(left + 1);
	if (!c->memory || !c->data)
		return MPI_ERR_NO_MEM;
	memcpy(c->data, (const char *)data + sizeof head, left);
	const struct entry *entries = (const void *)c->data;
	unsigned char *at = c->data + c->count * sizeof *entries;
	left -= c->count * sizeof *entries;
	for (size_t i = 0; i < c->count; i++) {
		if (entries[i].length > left)
			return MPI_ERR_TRUNCATE;
		c->memory[i] = (struct kept_memory){(int)entries[i].id, at, (size_t)entries[i].length, 0};
		at += entries[i].length, left -= entries[i].length;
	}
	c->file = at;
	return left == c->file_length ? MPI_SUCCESS : MPI_ERR_TRUNCATE;
}

int kept_begin(const char *library, MPI_Comm comm)
{
	kept.library = library;
	if (kept.begun)
		return MPI_SUCCESS;
	int code = MPI_Comm_rank(comm, &kept.rank);
	if (code == MPI_SUCCESS)
		code = MPIX_State_register_function("checkpoints", save, load, NULL);
	if (code != MPI_SUCCESS)
		return code;
	kept.begun = 1, kept.fd = -1;
	// Such a program believes that its checkpoints are kept. By these variables the launcher tells its
	// processes that they are.
	const char *heal = getenv("BANYAN_HEAL");
	if (kept.rank == 0 && !getenv("BANYAN_ROLLBACK") && !(heal && strcmp(heal, "1") == 0))
		kept_said(0, "this job keeps no checkpoints: banyan run needs --rollback, or --replicas 2 --heal");
	return MPI_SUCCESS;
}

void kept_end(void)
{
	if (!kept.begun)
		return;
	MPIX_State_unregister("checkpoints");
	kept_forget();
	unmap();
	free(kept.memory);
	free(kept.entries);
	free(kept.pieces);
	memset(&kept, 0, sizeof kept);
}

int kept_point(const char *name, int64_t version, enum kept_what what, int fd, int *restored)
{
	kept_forget();
	memset(&kept.head, 0, sizeof kept.head);
	kept.head.magic = magic, kept.head.version = version, kept.head.is_checkpoint = 1;
	snprintf(kept.head.name, sizeof kept.head.name, "%s", name);
	kept.what = what, kept.fd = fd, kept.passed = 1;
	return MPIX_Safepoint(restored);
}

int kept_first(void)
{
	if (kept.passed)
		return MPI_SUCCESS;
	int restored;
	memset(&kept.head, 0, sizeof kept.head);
	kept.head.magic = magic; // no checkpoint: a process with this state begins
	kept.what = KEPT_NOTHING, kept.fd = -1, kept.passed = 1;
	return MPIX_Safepoint(&restored);
}

struct kept_checkpoint *kept_loaded(void) { return kept.loaded; }

void kept_forget(void)
{
	if (!kept.loaded)
		return;
	free(kept.loaded->memory);
	free(kept.loaded->data);
	free(kept.loaded);
	kept.loaded = NULL;
}

const struct kept_memory *kept_stored(const struct kept_checkpoint *c, int id)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->memory[i].id == id)
			return &c->memory[i];
	return NULL;
}

int kept_recover(const struct kept_checkpoint *c, const struct kept_memory *stored)
{
	const struct kept_memory *m = kept_find(stored->id);
	if (!m)
		return kept_said(0, "checkpoint \"%s\" %lld has memory %d, which isn't protected now", c->name, (long long)c->version, stored->id);
	if (m->length < stored->length)
		return kept_said(0, "checkpoint \"%s\" %lld has %zu bytes of memory %d, and %zu are protected now", c->name,
			(long long)c->version, stored->length, stored->id, m->length);
	memcpy(m->address, stored->address, stored->length);
	return 1;
}
