// What the tests of MPI's files share. Their first argument is a directory, the second names what
// they do; without one they check all that goes well, and with "replicas" all that replicas can.
#include <mpi.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static int rank, size, replicas;
static char path[4096];

static inline const char *in(const char *dir, const char *name)
{
	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

// gone sees to it that there is no such file: by MPI, since each replica would do it otherwise.
static inline void gone(const char *name)
{
	MPI_File_delete(name, MPI_INFO_NULL);
}

static inline MPI_File open_new(const char *name)
{
	MPI_File f;
	if (rank == 0)
		gone(name);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	return f;
}

static inline int counted(MPI_Status *s, MPI_Datatype t)
{
	int n;
	OK(MPI_Get_count(s, t, &n));
	return n;
}

// bytes_of reads a file's first bytes: of the system, or with replicas, of which one may be ahead, by
// MPI.
static inline ssize_t bytes_of(const char *name, void *buffer, size_t n)
{
	if (!replicas) {
		int fd = open(name, O_RDONLY);
		ssize_t got = read(fd, buffer, n);
		close(fd);
		return got;
	}
	MPI_File f;
	MPI_Status s;
	OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
	OK(MPI_File_read_at(f, 0, buffer, n, MPI_BYTE, &s));
	int got = counted(&s, MPI_BYTE);
	OK(MPI_File_close(&f));
	return got;
}

// content checks the file's bytes, at rank 0.
static inline void content(const char *name, const void *want, size_t n)
{
	OK(MPI_Barrier(MPI_COMM_WORLD));
	if (rank == 0) {
		unsigned char *got = malloc(n + 1);
		CHECK(bytes_of(name, got, n + 1) == (ssize_t)n);
		CHECK(memcmp(got, want, n) == 0);
		free(got);
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

static inline int error_class(int code)
{
	int class;
	OK(MPI_Error_class(code, &class));
	return class;
}

// begin is what all of these programs begin with; it returns what they are to do.
static inline const char *begin(int argc, char **argv, const char **dir)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	*dir = argc > 1 ? argv[1] : ".";
	const char *what = argc > 2 ? argv[2] : "";
	replicas = strcmp(what, "replicas") == 0;
	return what;
}

#define FAILS(class, call) CHECK(error_class(call) == class)
