// ledrollback ROUNDS [PAUSE [FILE DEATHS]] is a farm whose rank 0 does what timing decides, in rounds with
// safe points between them. What it prints doesn't depend on that, and its state does: rank 0 tells
// the others, so a snapshot whose parts are of different moments, or a replica that has decided
// otherwise, is noticed. Before the first safe point the others get numbers in the order in which
// they come; nothing is registered of that, so a process that starts again has to get the same.
//
// DEATHS is PROCESS:ROUND ...: that process kills itself in the middle of that round. FILE.PROCESS.ROUND says that it
// has.
#include "mpi-ext.h"
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { most = 16, tasks = 12, task_tag = 5, clock_tag = 7, late_tag = 9 };

static int rank, size, turn, pause_us;
static unsigned seen = 1; // a hash of what rank 0 has decided
static double last;       // what its clock told last, here
static const char *file, *deaths = "";

static void fail(const char *why) {
	fprintf(stderr, "ledrollback: rank %d, round %d: %s\n", rank, turn, why);
	MPI_Abort(MPI_COMM_WORLD, 3);
}

static void see(unsigned what) { seen = seen * 31 + what + 7; }

// die ends the process if it is to die in this round, and hasn't.
static void die(void) {
	const char *self = getenv("PMI_RANK");
	int process, round, length;
	for (const char *s = deaths; sscanf(s, "%d:%d%n", &process, &round, &length) == 2; s += length) {
		char mark[4096];
		if (self == NULL || process != atoi(self) || round != turn)
			continue;
		snprintf(mark, sizeof mark, "%s.%d.%d", file, process, round);
		if (open(mark, O_CREAT | O_EXCL | O_WRONLY, 0666) >= 0)
			raise(SIGKILL);
	}
}

static void hand(int task, int to) {
	unsigned x[2] = {(unsigned)task, seen};
	MPI_Send(x, 2, MPI_UNSIGNED, to, task_tag, MPI_COMM_WORLD);
}

// take takes the next result, in one of the ways that timing decides.
static int take(int how, MPI_Status *s) {
	static MPI_Request two[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
	int got = -1, flag = 0, which, index;
	switch (how % 5) {
	case 0:
		MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, task_tag, MPI_COMM_WORLD, s);
		break;
	case 1:
		while (!flag)
			MPI_Iprobe(MPI_ANY_SOURCE, task_tag, MPI_COMM_WORLD, &flag, s);
		MPI_Recv(&got, 1, MPI_INT, s->MPI_SOURCE, task_tag, MPI_COMM_WORLD, s);
		break;
	case 2:
		MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, task_tag, MPI_COMM_WORLD, &two[1]);
		MPI_Waitany(2, two, &which, s);
		if (which != 1)
			fail("MPI_Waitany");
		break;
	case 3:
		MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, task_tag, MPI_COMM_WORLD, &two[0]);
		while (!flag)
			MPI_Test(&two[0], &flag, s);
		break;
	case 4:
		MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, task_tag, MPI_COMM_WORLD, &two[0]);
		MPI_Waitsome(2, two, &which, &index, s);
		break;
	}
	return got;
}

// master gives each task to the first one that is free. What was sent before the safe point, and comes
// behind it, it receives in the order in which it comes.
static void master(void) {
	int next = 0, sum = 0;
	double now = MPI_Wtime();
	if (now < last)
		fail("the clock goes back");
	last = now;
	for (int to = 1; to < size; to++)
		hand(next++, to);
	for (int done = 0; done < tasks; done++) {
		MPI_Status s;
		int got = take(done, &s);
		sum += got * got % 1009;
		see((unsigned)(got * most + s.MPI_SOURCE));
		if (next < tasks)
			hand(next++, s.MPI_SOURCE);
		if (done == tasks / 2)
			die();
	}
	for (int i = 1; i < size && turn > 0; i++) {
		MPI_Status s;
		int late;
		MPI_Recv(&late, 1, MPI_INT, MPI_ANY_SOURCE, late_tag, MPI_COMM_WORLD, &s);
		sum += late;
		see((unsigned)s.MPI_SOURCE);
	}
	see((unsigned)(now * 1e6));
	for (int to = 1; to < size; to++)
		hand(-1, to);
	printf("round %d: %d\n", turn, sum);
}

static void worker(void) {
	for (int first = 1;; first = 0) {
		unsigned x[2];
		MPI_Recv(x, 2, MPI_UNSIGNED, 0, task_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if ((int)x[0] < 0) {
			seen = x[1];
			break;
		}
		if (first && x[1] != seen)
			fail("rank 0 has decided something else than it had told");
		if (first)
			die();
		usleep(x[0] * 7919 % 300 + (unsigned)getpid() % 200);
		MPI_Send(x, 1, MPI_INT, 0, task_tag, MPI_COMM_WORLD);
	}
	int late = turn * size + rank;
	MPI_Send(&late, 1, MPI_INT, 0, late_tag, MPI_COMM_WORLD);
}

// tell_clock has rank 0 tell the others its clock right before a safe point: what it sends depends on what
// it has just decided. They hear it behind the safe point.
static void tell_clock(void) {
	double now = MPI_Wtime();
	for (int to = 1; to < size && rank == 0; to++)
		MPI_Send(&now, 1, MPI_DOUBLE, to, clock_tag, MPI_COMM_WORLD);
}

static void hear_clock(void) {
	double now;
	if (rank == 0)
		return;
	MPI_Recv(&now, 1, MPI_DOUBLE, 0, clock_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (now < last)
		fail("rank 0's clock goes back");
	last = now;
}

int main(int argc, char **argv) {
	int rounds = argc > 1 ? atoi(argv[1]) : 20, restored, numbers[most] = {0}, then[most] = {0};
	pause_us = argc > 2 ? atoi(argv[2]) : 0;
	if (argc > 4)
		file = argv[3], deaths = argv[4];
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (rank > 0) {
		usleep((unsigned)getpid() * 7919U % 8000);
		MPI_Send(&rank, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
		MPI_Recv(&numbers[rank], 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	for (int i = 1; i < size && rank == 0; i++) {
		MPI_Status s;
		int from;
		MPI_Recv(&from, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &s);
		numbers[from] = i;
		MPI_Send(&i, 1, MPI_INT, from, 2, MPI_COMM_WORLD);
	}
	for (int i = 0; i < most; i++)
		then[i] = numbers[i];
	MPIX_State_register("turn", &turn, 1, MPI_INT);
	MPIX_State_register("seen", &seen, 1, MPI_UNSIGNED);
	MPIX_State_register("last", &last, 1, MPI_DOUBLE);
	MPIX_State_register("then", then, most, MPI_INT);
	for (; turn < rounds; turn++) {
		MPIX_Safepoint(&restored);
		for (int i = 0; i < most; i++)
			if (then[i] != numbers[i])
				fail("the numbers aren't those of the first start");
		if (turn > 0)
			hear_clock();
		if (rank == 0)
			master();
		else
			worker();
		usleep((unsigned)pause_us);
		tell_clock();
	}
	hear_clock();
	for (int i = 1; i < size && rank == 0; i++)
		MPI_Recv(&restored, 1, MPI_INT, MPI_ANY_SOURCE, late_tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	if (rank == 0)
		printf("end\n");
	MPI_Finalize();
	return 0;
}
