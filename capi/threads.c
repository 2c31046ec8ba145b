// Names of threads that are the same in all replicas of a rank, for leader order: a thread is known by
// who created it, and as which of that thread's. So this library's pthread_create comes before libc's.
// Threads of the Go runtime, which it creates when it likes, have no names and don't count (gothreads.c).
//
// The library knows which threads with names live, and how many threads each has created: a replacement
// has to go on counting where its donor was.
//
// Where the library is loaded with RTLD_LOCAL, as Python does, only the thread that loads it has a name.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "threads.h"

typedef int create_function(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);

// A thread that has a name and lives.
struct thread {
	uint64_t name; // 0: none
	uint64_t created;
	struct thread *next, **at;
};

static __thread struct thread self;

static struct thread *alive;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // of alive
static pthread_key_t ends;

// What a new thread does.
struct beginning {
	void *(*run)(void *);
	void *with;
	uint64_t name;
};

static void be(uint64_t name)
{
	self.name = name;
	pthread_setspecific(ends, &self);
	pthread_mutex_lock(&lock);
	self.next = alive;
	self.at = &alive;
	if (alive)
		alive->at = &self.next;
	alive = &self;
	pthread_mutex_unlock(&lock);
}

static void end(void *thread)
{
	struct thread *t = thread;
	pthread_mutex_lock(&lock);
	if (t->at) {
		*t->at = t->next;
		if (t->next)
			t->next->at = t->at;
		t->at = NULL;
	}
	pthread_mutex_unlock(&lock);
}

// A child of fork has none of the other threads, of which one may have held the lock.
static void forget(void)
{
	pthread_mutex_init(&lock, NULL);
	alive = NULL;
	self.at = NULL;
}

__attribute__((constructor)) static void name_first(void)
{
	pthread_key_create(&ends, end);
	pthread_atfork(NULL, NULL, forget);
	be(BANYAN_FIRST_THREAD);
}

int banyan_libc_pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *with)
{
	static create_function *next;
	create_function *f = __atomic_load_n(&next, __ATOMIC_ACQUIRE);
	if (!f) {
		f = (create_function *)dlsym(RTLD_NEXT, "pthread_create");
		if (!f) // we come after the C library, as another library's dependency does
			f = (create_function *)dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "pthread_create");
		__atomic_store_n(&next, f, __ATOMIC_RELEASE);
	}
	return f(thread, attributes, run, with);
}

// mix is the finaliser of SplitMix64.
static uint64_t mix(uint64_t x)
{
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
	x = (x ^ x >> 27) * 0x94d049bb133111ebu;
	return x ^ x >> 31;
}

static void *begin(void *arg)
{
	struct beginning b = *(struct beginning *)arg;
	free(arg);
	be(b.name);
	return b.run(b.with);
}

int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*run)(void *), void *with)
{
	if (!self.name)
		return banyan_libc_pthread_create(thread, attributes, run, with);
	struct beginning *b = malloc(sizeof *b);
	if (!b)
		return EAGAIN;
	*b = (struct beginning){run, with, mix(mix(self.name) + self.created + 1)};
	if (b->name <= BANYAN_FIRST_THREAD)
		b->name += 2;
	int code = banyan_libc_pthread_create(thread, attributes, begin, b);
	if (code == 0)
		self.created++;
	else
		free(b);
	return code;
}

uint64_t banyan_thread(void)
{
	return self.name;
}

size_t banyan_threads(uint64_t *names, uint64_t *created, size_t room)
{
	size_t n = 0;
	pthread_mutex_lock(&lock);
	for (struct thread *t = alive; t; t = t->next, n++)
		if (n < room) {
			names[n] = t->name;
			created[n] = t->created;
		}
	pthread_mutex_unlock(&lock);
	return n;
}

int banyan_thread_created(uint64_t name, uint64_t created)
{
	struct thread *t;
	pthread_mutex_lock(&lock);
	for (t = alive; t && t->name != name;)
		t = t->next;
	if (t)
		t->created = created;
	pthread_mutex_unlock(&lock);
	return t != NULL;
}
