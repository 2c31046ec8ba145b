// kept.h: what the libraries for VeloC's and for FTI's programs share. A program protects memory
// under numbers, and says where a checkpoint is. That place is a safe point (mpi-ext.h), and what
// is protected there is the program's state. A process that goes on from a state gets it at its
// first safe point. It is put aside, until the program asks for it.
#ifndef BANYAN_KEPT_H
#define BANYAN_KEPT_H

#include <stddef.h>
#include <stdint.h>

#include "mpi-ext.h"

#pragma GCC visibility push(hidden)

enum { KEPT_NAME = 256 }; // the longest name of a checkpoint, with its end

// kept_memory is memory under a number.
struct kept_memory {
	int id;
	void *address;
	size_t length;
	int chosen; // for a checkpoint of KEPT_CHOSEN
};

// kept_checkpoint is what a process goes on from.
struct kept_checkpoint {
	int64_t version;
	char name[KEPT_NAME];
	size_t count;
	struct kept_memory *memory; // below data
	unsigned char *file;        // the contents of the checkpoint's file, also below data
	size_t file_length;
	int has_file;
	unsigned char *data;
};

// kept_begin begins, for a library of this name. It returns a code of MPI, as all functions do that
// return int, unless they say otherwise.
int kept_begin(const char *library, MPI_Comm comm);

// kept_end forgets all.
void kept_end(void);

// kept_said prints a line for the user, and returns failure.
int kept_said(int failure, const char *format, ...) __attribute__((format(printf, 2, 3)));

// kept_protect puts memory under a number, in place of what was there. kept_unprotect returns 0 if
// nothing was.
int kept_protect(int id, void *address, size_t length);
int kept_unprotect(int id);
struct kept_memory *kept_find(int id);

// kept_unchoose takes back the choice of all memory.
void kept_unchoose(void);

// What a checkpoint has of the memory.
// With KEPT_REFUSED no snapshot is taken there.
enum kept_what { KEPT_NOTHING, KEPT_ALL, KEPT_CHOSEN, KEPT_REFUSED };

// kept_point is a checkpoint: a safe point. The contents of file fd belong to it, if it isn't -1. *restored is 1 if the process goes on from a state that
// it has got there.
int kept_point(const char *name, int64_t version, enum kept_what what, int fd, int *restored);

// kept_first has the process get a state, if it goes on from one: the first call is a safe point,
// unless there was one.
int kept_first(void);

// kept_loaded is the checkpoint that the process has got and not forgotten, or NULL.
struct kept_checkpoint *kept_loaded(void);
void kept_forget(void);

// kept_stored finds memory of a checkpoint by its number.
const struct kept_memory *kept_stored(const struct kept_checkpoint *c, int id);

// kept_recover fills the memory that is protected under a number. It returns 0 if it has said why
// it can't.
int kept_recover(const struct kept_checkpoint *c, const struct kept_memory *stored);

#pragma GCC visibility pop

#endif
