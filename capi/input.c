// input.c looks into stdio's buffer of the standard input, so that a replacement can go on where its donor is.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

#include "guest.h"

// set says whether a variable of the environment is switched on, as libgfortran has it.
static int set(const char *variable)
{
	const char *value = getenv(variable);
	return value != NULL && (*value == 'y' || *value == 'Y' || *value == '1');
}

// Fortran's units have buffers that nobody can look into.
static int read_by_fortran(void)
{
	if (dlsym(RTLD_DEFAULT, "_FortranAioBeginExternalListInput") != NULL)
		return 1;
	return dlsym(RTLD_DEFAULT, "_gfortran_st_read") != NULL &&
	       !set("GFORTRAN_UNBUFFERED_ALL") && !set("GFORTRAN_UNBUFFERED_PRECONNECTED");
}

#ifdef __GLIBC__

enum { pushed_back = 0x100 }; // glibc's _IO_IN_BACKUP: ungetc has put it on a buffer of its own

long long banyan_unread(void)
{
	if (read_by_fortran())
		return -1;
	flockfile(stdin);
	long long n = stdin->_IO_read_end - stdin->_IO_read_ptr;
	if (stdin->_flags & pushed_back || fwide(stdin, 0) > 0)
		n = -1;
	funlockfile(stdin);
	return n;
}

#else

long long banyan_unread(void)
{
	return -1;
}

#endif

long long banyan_skip(long long bytes)
{
	// What stdio has already must come from there, the rest must not get into its buffer: the
	// program may read the descriptor.
	for (long long ahead = banyan_unread(); ahead > 0 && bytes > 0; ahead--, bytes--)
		getc(stdin);
	while (bytes > 0) {
		char dropped[4096];
		ssize_t n = read(0, dropped, bytes < (long long)sizeof dropped ? (size_t)bytes : sizeof dropped);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		bytes -= n;
	}
	return bytes;
}
