// ledclock does things that depend on clocks, random numbers and the process id (--order leader,clock),
// while a signal handler and another thread ask for the time, too. Rank 0 prints what it has come to.
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static int rank, size, rounds = 20;
static uint64_t seen = 1;

static void see(uint64_t what) { seen = (seen ^ what) * 0x9e3779b97f4a7c15u + 7; }

static void fail(const char *why) {
	fprintf(stderr, "ledclock: rank %d: %s\n", rank, why);
	MPI_Abort(MPI_COMM_WORLD, 3);
}

static volatile sig_atomic_t alarms, over;
static volatile uint64_t nothing;

// look asks for all that isn't the same in other processes.
static void look(void) {
	struct timespec t;
	char bytes[8];
	clock_gettime(CLOCK_MONOTONIC, &t);
	nothing += (uint64_t)time(NULL) + (uint64_t)t.tv_nsec + (uint64_t)getpid() + (uint64_t)clock();
	nothing += (uint64_t)getrandom(bytes, sizeof bytes, 0);
}

static void alarmed(int sig) {
	int code = errno;
	look();
	alarms++;
	errno = code;
}

static void *other(void *unused) {
	while (!over) {
		look();
		usleep(300);
	}
	return NULL;
}

// gather sees all that may be asked for.
static void gather(void) {
	static const clockid_t clocks[] = {CLOCK_REALTIME, CLOCK_MONOTONIC, CLOCK_MONOTONIC_RAW, CLOCK_REALTIME_COARSE, CLOCK_PROCESS_CPUTIME_ID, CLOCK_THREAD_CPUTIME_ID};
	static int64_t last[sizeof clocks / sizeof clocks[0]], last_day;
	struct timespec t;
	struct timeval v;
	struct rusage u;
	unsigned char bytes[300];
	for (unsigned i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
		if (clock_gettime(clocks[i], &t) != 0 || t.tv_nsec < 0 || t.tv_nsec >= 1000000000)
			fail("clock_gettime");
		int64_t now = (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
		if (now < last[i])
			fail("a clock goes back");
		last[i] = now;
		see((uint64_t)now);
	}
	if (clock_gettime(12345, &t) != -1 || errno != EINVAL)
		fail("a clock that there isn't");
	gettimeofday(&v, NULL);
	timespec_get(&t, TIME_UTC);
	time_t day, same = time(&day);
	if (same != day || t.tv_sec < last_day || v.tv_sec > t.tv_sec || day < t.tv_sec)
		fail("the day goes back");
	last_day = day;
	see((uint64_t)v.tv_usec), see((uint64_t)t.tv_nsec), see((uint64_t)day), see((uint64_t)clock());
	if (getrusage(RUSAGE_SELF, &u) != 0)
		fail("getrusage");
	see((uint64_t)u.ru_utime.tv_usec), see((uint64_t)u.ru_stime.tv_usec);
	for (size_t n = 1; n <= sizeof bytes; n += 23 + n) {
		memset(bytes, 0, sizeof bytes);
		if (getrandom(bytes, n, 0) != (ssize_t)n)
			fail("getrandom");
		for (size_t i = 0; i < sizeof bytes; i++)
			see(bytes[i]);
	}
	if (getrandom(bytes, 8, 0xffff) != -1 || errno != EINVAL)
		fail("getrandom with wrong flags");
	if (getentropy(bytes, 16) != 0 || getentropy(bytes, 257) != -1)
		fail("getentropy");
	for (int i = 0; i < 16; i++)
		see(bytes[i]);
#if __GLIBC_PREREQ(2, 36)
	arc4random_buf(bytes, 5);
	see(bytes[0]), see(bytes[4]), see(arc4random()), see(arc4random_uniform(1000));
#endif
	see((uint64_t)getpid());
}

int main(int argc, char **argv) {
	pthread_t thread;
	int in[2] = {0, 0};
	uint64_t got[64];
	struct itimerval every = {{0, 2000}, {0, 2000}};
	look(); // before MPI_Init each process has its own
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);


	signal(SIGALRM, alarmed);
	signal(SIGUSR1, SIG_IGN);
	setitimer(ITIMER_REAL, &every, NULL);
	pthread_create(&thread, NULL, other, NULL);
	for (int round = 0; round < rounds; round++) {
		gather();
		// Rank 0 is asked by each other one as often as that one's dice say.
		if (rank > 0) {
			int times = (int)(seen >> 40 & 3), to = 0;
			for (int i = 0; i <= times; i++) {
				MPI_Send((int[]){(int)(seen >> 7 & 0xffff), times - i}, 2, MPI_INT, to, 1, MPI_COMM_WORLD);
				gather();
			}
		} else {
			MPI_Status s;
			for (int open = size - 1; open > 0; open -= in[1] == 0) {
				MPI_Recv(in, 2, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &s);
				see((uint64_t)in[0]), see((uint64_t)s.MPI_SOURCE);
			}
		}
		MPI_Allgather(&seen, 1, MPI_UINT64_T, got, 1, MPI_UINT64_T, MPI_COMM_WORLD);
		for (int i = 0; i < size; i++)
			see(got[i]);
	}
	// The process that getpid names is this one.
	if (kill(getpid(), SIGUSR1) != 0)
		fail("kill");
	pid_t child = fork();
	if (child == 0) {
		look();
		_exit(getpid() == getppid());
	}
	int status = 1;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	if (child < 0 || status != 0)
		fail("a child");
	over = 1;
	pthread_join(thread, NULL);
	setitimer(ITIMER_REAL, &(struct itimerval){0}, NULL);
	if (!alarms)
		fail("no alarm came");
	if (rank == 0)
		printf("ledclock %lx\n", (unsigned long)seen);
	MPI_Finalize();
	look();
	return 0;
}
