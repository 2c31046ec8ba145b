// threads.h: names of the program's threads.
#ifndef BANYAN_THREADS_H
#define BANYAN_THREADS_H

#include <pthread.h>
#include <stddef.h>
#include <stdint.h>

#define BANYAN_FIRST_THREAD 1

#pragma GCC visibility push(hidden)

// banyan_thread is the name of this thread, the same in all replicas of a rank, or 0.
uint64_t banyan_thread(void);

// banyan_threads tells the names of the threads that live, and how many threads with names each has
// created, as far as there is room. It returns how many live.
size_t banyan_threads(uint64_t *names, uint64_t *created, size_t room);

// banyan_thread_created says how many a thread has created. It returns 0 if no such thread lives.
int banyan_thread_created(uint64_t name, uint64_t created);

// banyan_libc_pthread_create is the C library's pthread_create.
int banyan_libc_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *with);

#pragma GCC visibility pop

#endif
