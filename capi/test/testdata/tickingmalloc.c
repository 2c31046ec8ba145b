// A library with a malloc that looks at the clock, as often as it is called.
#define _GNU_SOURCE
#include <stddef.h>
#include <time.h>

void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void __libc_free(void *);

static void tick(void) {
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
}

void *malloc(size_t n) { return tick(), __libc_malloc(n); }
void *calloc(size_t n, size_t size) { return tick(), __libc_calloc(n, size); }
void *realloc(void *p, size_t n) { return tick(), __libc_realloc(p, n); }
void free(void *p) { tick(), __libc_free(p); }
