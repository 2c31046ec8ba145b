// The program's streams. A process that ends writes out what the program has printed. A
// replacement goes on in the standard input where its donor is: for this, Go looks into stdio's
// buffer of it.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <wchar.h>

#include "streams.h"

void banyan_flush(void)
{
	if (ftrylockfile(stdout) == 0) {
		fflush(stdout);
		funlockfile(stdout);
	}
}

void banyan_flush_all(void)
{
	fflush(NULL);
}

// set says whether a variable of the environment is switched on, by libgfortran's rules.
static int set(const char *variable)
{
	const char *value = getenv(variable);
	return value != NULL && (*value == 'y' || *value == 'Y' || *value == '1');
}

// The buffers of Fortran's units can't be read from outside.
static int read_by_fortran(void)
{
	if (dlsym(RTLD_DEFAULT, "_FortranAioBeginExternalListInput") != NULL)
		return 1;
	return dlsym(RTLD_DEFAULT, "_gfortran_st_read") != NULL &&
	       !set("GFORTRAN_UNBUFFERED_ALL") && !set("GFORTRAN_UNBUFFERED_PRECONNECTED");
}

#ifdef __GLIBC__

// glibc's _IO_IN_BACKUP: ungetc has switched the stream to a buffer of its own.
enum { pushed_back = 0x100 };

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
	// Take the bytes that stdio has from its buffer. The others must not get into the buffer,
	// because the program may read the descriptor itself.
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
