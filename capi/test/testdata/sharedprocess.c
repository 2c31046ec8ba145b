// sharedprocess shares its process with the library's Go runtime. Its first argument names what it
// does: one of the things that the Go runtime must not disturb.
#define _GNU_SOURCE
#include <mpi.h>

#include <errno.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(x)                                                              \
	do {                                                                  \
		if (!(x)) {                                                   \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #x); \
			_exit(99);                                            \
		}                                                             \
	} while (0)

static int rank;

static void *volatile nowhere;
static volatile int zero;

static void crash_segv(void) { *(volatile int *)nowhere = 1; }
static void crash_fpe(void) { zero = 12345 / zero; }
static void crash_abort(void) { abort(); }
static void crash_in_library(void) { MPI_Comm_rank(MPI_COMM_WORLD, (int *)0x7000000000); }
static void crash_special(void) { MPI_Comm_rank(MPI_COMM_WORLD, (int *)8); }

static sigjmp_buf back;
static volatile int handled;
static void jump(int sig) { handled = sig; siglongjmp(back, 1); }

static void handler_segv(void)
{
	signal(SIGSEGV, jump);
	for (int i = 0; i < 3; i++) {
		if (sigsetjmp(back, 1) == 0)
			crash_segv();
		CHECK(handled == SIGSEGV);
		handled = 0;
	}
}

// tick is a handler that needs more stack than Go code has, and more than Go has for signals. It
// runs while the program is in Go nearly all the time.
static volatile long ticks;
static void tick(int sig)
{
	volatile char room[100000];
	memset((char *)room, sig, sizeof room);
	ticks += room[99999] != 0;
}

static void handler_stack(void)
{
	struct sigaction a = {.sa_handler = tick, .sa_flags = SA_RESTART};
	CHECK(sigaction(SIGALRM, &a, NULL) == 0);
	struct itimerval often = {{0, 200}, {0, 200}};
	CHECK(setitimer(ITIMER_REAL, &often, NULL) == 0);
	while (ticks < 500) {
		int n;
		MPI_Comm_rank(MPI_COMM_WORLD, &n);
		CHECK(n == rank);
	}
	struct itimerval never = {{0, 0}, {0, 0}};
	setitimer(ITIMER_REAL, &never, NULL);
}

// A program may block a signal on all its threads and wait for it. No thread of the library takes
// the signal.
static void signal_wait(void)
{
	signal(SIGUSR1, tick);
	sigset_t one, pending;
	sigemptyset(&one);
	sigaddset(&one, SIGUSR1);
	CHECK(pthread_sigmask(SIG_BLOCK, &one, NULL) == 0);
	for (int i = 0; i < 200; i++) {
		int n, got;
		CHECK(kill(getpid(), SIGUSR1) == 0);
		MPI_Comm_rank(MPI_COMM_WORLD, &n);
		usleep(100);
		CHECK(sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1) == 1);
		CHECK(sigwait(&one, &got) == 0 && got == SIGUSR1);
	}
	CHECK(ticks == 0);
}

static volatile int pipes;
static void on_pipe(int sig) { pipes++; }

static void break_pipe(int want)
{
	int fd[2];
	CHECK(pipe(fd) == 0);
	close(fd[0]);
	errno = 0;
	CHECK(write(fd[1], "x", 1) == -1 && errno == want);
	close(fd[1]);
}

static void pipe_default(void) { break_pipe(0); }

static void pipe_handler(void)
{
	CHECK(signal(SIGPIPE, on_pipe) == SIG_DFL);
	break_pipe(EPIPE);
	CHECK(pipes == 1);
	CHECK(signal(SIGPIPE, SIG_IGN) == on_pipe);
	break_pipe(EPIPE);
	CHECK(pipes == 1);
	CHECK(signal(SIGPIPE, on_pipe) == SIG_IGN);
	break_pipe(EPIPE);
	CHECK(pipes == 2);
	struct sigaction a = {.sa_handler = on_pipe, .sa_flags = SA_RESETHAND}, old;
	CHECK(sigaction(SIGPIPE, &a, &old) == 0 && old.sa_handler == on_pipe);
	break_pipe(EPIPE);
	CHECK(pipes == 3);
	CHECK(sigaction(SIGPIPE, NULL, &old) == 0 && old.sa_handler == SIG_DFL);
	break_pipe(0); // ends the program
}

static volatile int urgents;
static void on_urgent(int sig) { urgents++; }

// Go's runtime sends SIGURG to its threads. The program's handler gets only the program's own.
static void urgent_handler(void)
{
	CHECK(signal(SIGURG, on_urgent) == SIG_DFL);
	for (int i = 1; i <= 100; i++) {
		CHECK(kill(getpid(), SIGURG) == 0);
		while (urgents < i)
			usleep(100);
		int n;
		MPI_Comm_rank(MPI_COMM_WORLD, &n);
	}
	CHECK(urgents == 100);
	CHECK(signal(SIGURG, SIG_DFL) == on_urgent);
	CHECK(kill(getpid(), SIGURG) == 0);
}

static int waited(pid_t child)
{
	int status;
	CHECK(waitpid(child, &status, 0) == child);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void forks(void)
{
	pid_t child = fork();
	if (child == 0) {
		int n = -1, error;
		for (int i = 0; i < 3; i++)
			error = MPI_Comm_rank(MPI_COMM_WORLD, &n);
		_exit(error == MPI_ERR_OTHER && n == -1 ? 7 : 8);
	}
	CHECK(waited(child) == 7);
	if ((child = fork()) == 0) {
		MPI_Abort(MPI_COMM_WORLD, 0); // ends the child only
		_exit(8);
	}
	CHECK(waited(child) == 1);
	if ((child = fork()) == 0) {
		signal(SIGPIPE, SIG_DFL);
		break_pipe(0);
		_exit(0);
	}
	CHECK(waited(child) == 1000 + SIGPIPE);
	if ((child = fork()) == 0)
		exit(5); // runs all exit handlers
	CHECK(waited(child) == 5);
	if ((child = fork()) == 0) {
		execlp("true", "true", NULL);
		_exit(9);
	}
	CHECK(waited(child) == 0);
	CHECK(system("exit 4") == 4 << 8);
	int n;
	MPI_Comm_rank(MPI_COMM_WORLD, &n); // the parent goes on
	CHECK(n == rank);
}

static void *caller(void *arg)
{
	int n, size, tag = (int)(intptr_t)arg;
	for (int i = 0; i < 5000; i++) {
		int in = -1, out = tag << 16 | i;
		MPI_Comm_rank(MPI_COMM_WORLD, &n);
		MPI_Comm_size(MPI_COMM_SELF, &size);
		CHECK(n == rank && size == 1);
		MPI_Sendrecv(&out, 1, MPI_INT, 0, tag, &in, 1, MPI_INT, 0, tag, MPI_COMM_SELF, MPI_STATUS_IGNORE);
		CHECK(in == out);
	}
	MPI_Is_thread_main(&n);
	CHECK(n == 0);
	return arg;
}

static void threads(void)
{
	pthread_t t[8];
	for (int i = 0; i < 8; i++)
		CHECK(pthread_create(&t[i], NULL, caller, (void *)(intptr_t)i) == 0);
	for (int i = 0; i < 8; i++)
		CHECK(pthread_join(t[i], NULL) == 0);
	int main_thread, level;
	MPI_Is_thread_main(&main_thread);
	MPI_Query_thread(&level);
	CHECK(main_thread == 1 && level == MPI_THREAD_MULTIPLE);
}

static jmp_buf out;
static void leap(MPI_Comm *comm, int *code, ...)
{
	CHECK(*comm == MPI_COMM_WORLD && *code == MPI_ERR_COMM);
	longjmp(out, 1);
}

static void errhandler_jumps(void)
{
	MPI_Errhandler h;
	MPI_Comm_create_errhandler(leap, &h);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
	MPI_Errhandler_free(&h);
	for (volatile int i = 0; i < 1000; i++) {
		if (setjmp(out) == 0) {
			int n;
			MPI_Comm_rank(MPI_COMM_NULL, &n);
			CHECK(!"the handler returns");
		}
	}
	int n;
	MPI_Comm_rank(MPI_COMM_WORLD, &n);
	CHECK(n == rank);
}

static int calls;
static void count(MPI_Comm *comm, int *code, ...) { calls += *code; }

static void errhandler_returns(void)
{
	MPI_Errhandler h;
	int n;
	MPI_Comm_create_errhandler(count, &h);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, h);
	CHECK(MPI_Comm_rank(MPI_COMM_NULL, &n) == MPI_ERR_COMM && calls == MPI_ERR_COMM);
	CHECK(MPI_Comm_call_errhandler(MPI_COMM_WORLD, 1000) == MPI_SUCCESS && calls == MPI_ERR_COMM + 1000);
}

// No call allocates memory. The test counts the runs of the garbage collector.
static void many_calls(void)
{
	for (int i = 0; i < 3000000; i++) {
		int n;
		MPI_Comm_rank(MPI_COMM_WORLD, &n);
	}
}

static void exits(void) { exit(0); }
static void exits_badly(void) { if (rank == 1) exit(3); pause(); }
static void abort_42(void) { printf("before the end\n"); if (rank == 0) MPI_Abort(MPI_COMM_WORLD, 42); pause(); }
static void fatal(void) { int n; MPI_Comm_size((MPI_Comm)12345678, &n); }
static void segv_of_one(void) { if (rank == 1) crash_segv(); pause(); }
static void nothing(void) {}
static void after_finalize(void) { int n; MPI_Finalize(); MPI_Comm_rank(MPI_COMM_WORLD, &n); }
static void abort_after(void) { MPI_Finalize(); MPI_Abort(MPI_COMM_WORLD, 6); }
static void before_init(void) { int n; MPI_Comm_rank(MPI_COMM_WORLD, &n); }

static const struct {
	const char *name;
	void (*run)(void);
	int early; // before MPI_Init
} cases[] = {
	{"crash-segv", crash_segv}, {"crash-fpe", crash_fpe}, {"crash-abort", crash_abort},
	{"crash-in-library", crash_in_library}, {"crash-special", crash_special}, {"crash-early", crash_segv, 1},
	{"handler-segv", handler_segv}, {"handler-segv-early", handler_segv, 1}, {"handler-stack", handler_stack},
	{"pipe-default", pipe_default}, {"pipe-handler", pipe_handler}, {"pipe-default-early", pipe_default, 1},
	{"urgent", urgent_handler}, {"sigwait", signal_wait}, {"fork", forks}, {"threads", threads},
	{"errhandler-jumps", errhandler_jumps}, {"errhandler-returns", errhandler_returns},
	{"many-calls", many_calls},
	{"exit", exits}, {"exit-badly", exits_badly}, {"abort", abort_42}, {"fatal", fatal}, {"segv-of-one", segv_of_one},
	{"nothing", nothing}, {"after-finalize", after_finalize}, {"abort-after", abort_after}, {"before-init", before_init, 1},
};

int main(int argc, char **argv)
{
	for (int i = 0; argc > 1 && i < sizeof cases / sizeof cases[0]; i++) {
		if (strcmp(argv[1], cases[i].name) != 0)
			continue;
		if (cases[i].early)
			cases[i].run();
		int level;
		MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
		CHECK(level == MPI_THREAD_MULTIPLE);
		MPI_Comm_rank(MPI_COMM_WORLD, &rank);
		cases[i].run();
		MPI_Finalize();
		return 0;
	}
	return 98;
}
