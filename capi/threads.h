// threads.h: names of the program's threads.
#ifndef BANYAN_THREADS_H
#define BANYAN_THREADS_H

#include <stdint.h>

#define BANYAN_FIRST_THREAD 1

#pragma GCC visibility push(hidden)

// banyan_thread is the name of this thread, the same in all replicas of a rank, or 0.
uint64_t banyan_thread(void);

#pragma GCC visibility pop

#endif
