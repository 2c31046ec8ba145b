// late LIBRARY loads the library while it is running, with RTLD_LOCAL, as Python loads a module. It
// sets signal handlers of its own before and after that.
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define CHECK(x)                                                              \
	do {                                                                  \
		if (!(x)) {                                                   \
			fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #x); \
			_exit(99);                                            \
		}                                                             \
	} while (0)

static sigjmp_buf back;
static void jump(int sig) { siglongjmp(back, sig); }

static volatile int *volatile nowhere;
static volatile int pipes, ticks;
static void on_pipe(int sig) { pipes++; }
static void on_tick(int sig) { ticks++; }

int main(int argc, char **argv)
{
	CHECK(argc == 2);
	signal(SIGSEGV, jump);
	signal(SIGPIPE, on_pipe);
	signal(SIGUSR1, on_tick);
	void *lib = dlopen(argv[1], RTLD_NOW | RTLD_LOCAL);
	if (!lib) {
		fprintf(stderr, "%s\n", dlerror());
		return 98;
	}
	int (*init)(int *, char ***) = dlsym(lib, "MPI_Init");
	int (*finalize)(void) = dlsym(lib, "MPI_Finalize");
	int (*get_rank)(MPI_Comm, int *) = dlsym(lib, "MPI_Comm_rank");
	int (*get_size)(MPI_Comm, int *) = dlsym(lib, "MPI_Comm_size");
	CHECK(init && finalize && get_rank && get_size);
	for (int i = 0; i < 2; i++) {
		int rank, size;
		if (i == 1)
			CHECK(init(NULL, NULL) == MPI_SUCCESS);
		if (sigsetjmp(back, 1) == 0)
			*nowhere = 1;
		int fd[2];
		CHECK(pipe(fd) == 0);
		close(fd[0]);
		CHECK(write(fd[1], "x", 1) == -1 && errno == EPIPE && pipes == i + 1);
		close(fd[1]);
		if (i == 1) {
			CHECK(get_rank(MPI_COMM_WORLD, &rank) == MPI_SUCCESS && get_size(MPI_COMM_WORLD, &size) == MPI_SUCCESS);
			printf("rank %d of %d\n", rank, size);
		}
	}
	struct sigaction a;
	CHECK(sigaction(SIGUSR1, NULL, &a) == 0 && a.sa_handler == on_tick && a.sa_flags & SA_ONSTACK);
	// The library doesn't see this call of signal, and finds the new handler all the same.
	signal(SIGUSR2, on_tick);
	for (int i = 0; i < 1000; i++) {
		sigaction(SIGUSR2, NULL, &a);
		if (a.sa_flags & SA_ONSTACK)
			break;
		usleep(10000);
	}
	CHECK(a.sa_handler == on_tick && a.sa_flags & SA_ONSTACK && a.sa_flags & SA_RESTART);
	raise(SIGUSR1);
	raise(SIGUSR2);
	CHECK(ticks == 2);
	CHECK(finalize() == MPI_SUCCESS);
	return 0;
}
