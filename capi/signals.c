// Signals. The Go runtime installs handlers when it is loaded, and Go code runs on small stacks
// that a handler of the program doesn't fit on. This file hides both from the program:
//
//   - Crashes are the program's own. SEGV, BUS, FPE and ABRT are handled as they were before the
//     library was loaded: by default, with a core and the signal as the cause of death.
//     (Go uses SEGV for nil pointers that it recovers from; this library doesn't.)
//   - A handler of the program always runs on the alternative stack. Handlers that exist when
//     the library is loaded or initialised are changed then. Later ones are changed when the
//     program installs them: this library's sigaction and signal come before libc's.
//   - Signals to the process go to the program's threads. The library's threads block all
//     signals that can be blocked, because the runtime starts with them blocked. Otherwise a
//     program that blocks a signal, to wait for it by sigwait, could lose it to such a thread.
//   - SIGPIPE and SIGURG are shared. Go needs the first for its own broken connections and the
//     second to preempt its threads. The kernel's handler stays Go's, and this file does the
//     program's action for the signals that aren't Go's.
//
// Where the library is loaded with RTLD_LOCAL, as Python does, the program's sigaction is libc's.
// Then the library looks for handlers without the alternative stack periodically
// (banyan_adopt_handlers), and SIGPIPE and SIGURG go to the handler that was installed last.

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <sys/mman.h>
#include <unistd.h>

#include "banyan.h"
#include "clocks.h"
#include "signals.h"

typedef int sigaction_function(int, const struct sigaction *, struct sigaction *);

// libc is the sigaction that comes after ours in the order of libraries.
static int libc(int sig, const struct sigaction *act, struct sigaction *old)
{
	static sigaction_function *next;
	sigaction_function *f = __atomic_load_n(&next, __ATOMIC_ACQUIRE);
	if (!f) {
		f = (sigaction_function *)dlsym(RTLD_NEXT, "sigaction");
		if (!f) // we come after the C library, as another library's dependency does
			f = (sigaction_function *)dlsym(dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD), "sigaction");
		__atomic_store_n(&next, f, __ATOMIC_RELEASE);
	}
	return f(sig, act, old);
}

static int is_function(const struct sigaction *a)
{
	return a->sa_handler != SIG_DFL && a->sa_handler != SIG_IGN;
}

// Signals of the program's own faults. They are never Go's.
static const int crashes[] = {SIGSEGV, SIGBUS, SIGFPE, SIGABRT};
enum { n_crashes = sizeof crashes / sizeof crashes[0] };

static struct sigaction before[NSIG]; // the actions before the library was loaded
static int loaded;

// A signal that Go and the program share.
static struct shared {
	struct sigaction go;      // Go's
	struct sigaction program; // the program's, which it believes to be in force
} pipe_signal, urgent_signal;

static int lock;

// enter and leave guard the two against other threads, and against handlers on this thread.
static void enter(sigset_t *mask)
{
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, mask);
	while (__atomic_exchange_n(&lock, 1, __ATOMIC_ACQUIRE))
		;
}

static void leave(const sigset_t *mask)
{
	__atomic_store_n(&lock, 0, __ATOMIC_RELEASE);
	pthread_sigmask(SIG_SETMASK, mask, NULL);
}

// act does the program's action for a signal that isn't Go's.
static void act(struct shared *s, int sig, siginfo_t *info, void *context)
{
	struct sigaction a;
	sigset_t mask;
	enter(&mask);
	a = s->program;
	if (is_function(&a) && a.sa_flags & SA_RESETHAND)
		s->program.sa_handler = SIG_DFL;
	leave(&mask);
	if (a.sa_handler == SIG_IGN || a.sa_handler == SIG_DFL && sig == SIGURG)
		return;
	if (a.sa_handler == SIG_DFL) {
		struct sigaction dfl = {.sa_handler = SIG_DFL};
		libc(sig, &dfl, NULL);
		sigemptyset(&mask);
		sigaddset(&mask, sig);
		pthread_sigmask(SIG_UNBLOCK, &mask, NULL);
		raise(sig);
		return;
	}
	pthread_sigmask(SIG_BLOCK, &a.sa_mask, &mask);
	if (a.sa_flags & SA_SIGINFO)
		a.sa_sigaction(sig, info, context);
	else
		a.sa_handler(sig);
	pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

// forwarded gets each SIGPIPE that no write of Go's has caused: Go takes it for the handler
// from before, and calls it.
static void forwarded(int sig, siginfo_t *info, void *context)
{
	act(&pipe_signal, sig, info, context);
}

// urgent is the kernel's handler of SIGURG once the program has a handler. Go's signals are
// those that the process sends to its own threads.
static void urgent(int sig, siginfo_t *info, void *context)
{
	if (info->si_code == SI_TKILL && info->si_pid == banyan_libc.getpid())
		urgent_signal.go.sa_sigaction(sig, info, context);
	else
		act(&urgent_signal, sig, info, context);
}

// share is sigaction for a shared signal.
static int share(struct shared *s, int sig, const struct sigaction *wanted, struct sigaction *old)
{
	struct sigaction a, was;
	sigset_t mask;
	int code = 0;
	if (wanted)
		a = *wanted; // wanted and old may be the same
	enter(&mask);
	was = s->program;
	if (wanted) {
		s->program = a;
		struct sigaction kernel = s->go;
		if (a.sa_handler == SIG_IGN)
			kernel = a; // Go works without SIGPIPE and SIGURG; exec inherits SIG_IGN
		else if (sig == SIGURG && is_function(&a))
			kernel.sa_sigaction = urgent;
		code = libc(sig, &kernel, NULL);
	}
	leave(&mask);
	if (old)
		*old = was;
	return code;
}

// own is our sigaction. The name sigaction may be another library's, if ours is loaded late.
static int own(int sig, const struct sigaction *restrict wanted, struct sigaction *restrict old)
{
	if (loaded && sig == SIGPIPE)
		return share(&pipe_signal, sig, wanted, old);
	if (loaded && sig == SIGURG)
		return share(&urgent_signal, sig, wanted, old);
	if (!wanted || !is_function(wanted) || wanted->sa_flags & SA_ONSTACK)
		return libc(sig, wanted, old);
	struct sigaction a = *wanted;
	a.sa_flags |= SA_ONSTACK;
	return libc(sig, &a, old);
}

int sigaction(int sig, const struct sigaction *restrict wanted, struct sigaction *restrict old)
	__attribute__((alias("own")));

// install is signal, with BSD's or System V's semantics.
static sighandler_t install(int sig, sighandler_t handler, int flags, int block)
{
	struct sigaction a = {.sa_handler = handler, .sa_flags = flags}, old;
	sigemptyset(&a.sa_mask);
	if (handler == SIG_ERR) {
		errno = EINVAL;
		return SIG_ERR;
	}
	if (block)
		sigaddset(&a.sa_mask, sig);
	return own(sig, &a, &old) == 0 ? old.sa_handler : SIG_ERR;
}

sighandler_t signal(int sig, sighandler_t handler)
{
	return install(sig, handler, SA_RESTART, 1);
}

sighandler_t bsd_signal(int sig, sighandler_t handler)
{
	return install(sig, handler, SA_RESTART, 1);
}

sighandler_t sysv_signal(int sig, sighandler_t handler)
{
	return install(sig, handler, SA_RESETHAND | SA_NODEFER, 0);
}

// glibc's signal where _XOPEN_SOURCE asks for System V's semantics.
sighandler_t __sysv_signal(int sig, sighandler_t handler)
{
	return install(sig, handler, SA_RESETHAND | SA_NODEFER, 0);
}

void banyan_adopt_handlers(void)
{
	for (int sig = 1; sig < NSIG; sig++) {
		struct sigaction a, found;
		if (libc(sig, NULL, &a) != 0 || !is_function(&a) || a.sa_flags & SA_ONSTACK)
			continue;
		a.sa_flags |= SA_ONSTACK;
		// Another thread may install a handler meanwhile: that one counts.
		if (libc(sig, &a, &found) == 0 && found.sa_handler != a.sa_handler)
			own(sig, &found, NULL);
	}
}

int banyan_sigaction_is_ours(void)
{
	void *program = dlopen(NULL, RTLD_LAZY); // the program's names; RTLD_DEFAULT is ours
	int ours = program && dlsym(program, "sigaction") == (void *)own;
	if (program)
		dlclose(program);
	return ours;
}

// The program's handlers have at least this much stack on the thread that loads the library. Go's
// own alternative stacks have 32 KiB.
enum { stack_size = 256 << 10, guard_size = 64 << 10 };

static void provide_stack(void)
{
	stack_t s;
	if (sigaltstack(NULL, &s) != 0 || !(s.ss_flags & SS_DISABLE))
		return;
	char *p = mmap(NULL, guard_size + stack_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (p == MAP_FAILED)
		return;
	mprotect(p + guard_size, stack_size, PROT_READ | PROT_WRITE);
	s = (stack_t){.ss_sp = p + guard_size, .ss_size = stack_size};
	sigaltstack(&s, NULL);
}

// The runtime installs its handlers in a constructor without a priority. It runs after those
// with a priority, and before others without, because Go links its own object first.

static sigset_t loader_mask;

__attribute__((constructor(101))) static void before_go(void)
{
	// The runtime's threads inherit this mask.
	sigset_t all;
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &loader_mask);

	for (int i = 0; i < n_crashes; i++)
		libc(crashes[i], NULL, &before[crashes[i]]);
	libc(SIGURG, NULL, &urgent_signal.program);
	libc(SIGPIPE, NULL, &pipe_signal.program);
	struct sigaction a = {.sa_sigaction = forwarded, .sa_flags = SA_SIGINFO | SA_ONSTACK};
	sigemptyset(&a.sa_mask);
	libc(SIGPIPE, &a, NULL);
	provide_stack();
}

__attribute__((constructor)) static void after_go(void)
{
	for (int i = 0; i < n_crashes; i++) {
		struct sigaction *a = &before[crashes[i]];
		if (is_function(a))
			a->sa_flags |= SA_ONSTACK;
		libc(crashes[i], a, NULL);
	}
	libc(SIGPIPE, NULL, &pipe_signal.go);
	libc(SIGURG, NULL, &urgent_signal.go);
	loaded = 1;
	struct sigaction a = pipe_signal.program;
	share(&pipe_signal, SIGPIPE, &a, NULL);
	a = urgent_signal.program;
	share(&urgent_signal, SIGURG, &a, NULL);
	pthread_sigmask(SIG_SETMASK, &loader_mask, NULL);
}

void banyan_signals_in_child(void)
{
	// Go doesn't run in the child: the signals are the program's alone.
	libc(SIGPIPE, &pipe_signal.program, NULL);
	libc(SIGURG, &urgent_signal.program, NULL);
	loaded = 0;
	lock = 0;
}
