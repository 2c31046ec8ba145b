// led NAME [TASKS [PHASES]] does something that isn't send-deterministic. Rank 0 prints what it has
// come to, which depends on the order of all that has happened. With PHASES it does it so many times,
// with a safe point after each.
#include "mpi-ext.h"
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int rank, size, tasks = 60, phase;
static unsigned seen = 1; // a hash of what happened

static void see(unsigned what) { seen = seen * 31 + what + 7; }

// last words of a check that fails: MPI_Abort says nothing of a reason.
static void fail(const char *why) {
	fprintf(stderr, "led: rank %d: %s\n", rank, why);
	MPI_Abort(MPI_COMM_WORLD, 3);
}

// toil takes a while that differs from task to task.
static void toil(int task) {
	volatile double x = 0;
	for (int i = 0; i < 2000 * (1 + task * 7919 % 13); i++)
		x += 1.0 / (i + task + 1);
	if (task % 5 == 0)
		usleep(task * 7919 % 700);
}

// worker does the tasks that rank 0 gives it, until it gets a negative one.
static void worker(void) {
	int task = 0;
	for (;;) {
		MPI_Recv(&task, 1, MPI_INT, 0, MPI_ANY_TAG, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		if (task < 0)
			return;
		toil(task);
		MPI_Send(&task, 1, MPI_INT, 0, task % 3, MPI_COMM_WORLD);
	}
}

static void hand(int task, int to) { MPI_Send(&task, 1, MPI_INT, to, 5, MPI_COMM_WORLD); }

static void dismiss(void) {
	for (int i = 1; i < size; i++)
		hand(-1, i);
}

// farm serves the first worker that is free, and receives in every way that timing decides.
static void farm(void) {
	if (rank > 0) {
		worker();
		return;
	}
	int next = 0, sum = 0, buffer[2], which, count, indices[2], flag;
	MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL}, stop;
	MPI_Status s, both[2];
	MPI_Irecv(&buffer[0], 1, MPI_INT, MPI_ANY_SOURCE, 77, MPI_COMM_WORLD, &stop); // never comes
	for (int i = 1; i < size; i++)
		hand(next++, i);
	for (int done = 0; done < tasks; done++) {
		int got = -1;
		switch (done % 6) {
		case 0:
			MPI_Recv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &s);
			break;
		case 1:
			for (flag = 0; !flag; see(flag))
				MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &s);
			MPI_Recv(&got, 1, MPI_INT, s.MPI_SOURCE, s.MPI_TAG, MPI_COMM_WORLD, &s);
			break;
		case 2: {
			MPI_Message m;
			MPI_Mprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &m, &s);
			MPI_Mrecv(&got, 1, MPI_INT, &m, &s);
			break;
		}
		case 3:
			MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
			for (flag = 0; !flag;)
				MPI_Test(&requests[1], &flag, &s);
			break;
		case 4:
			MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[1]);
			MPI_Waitsome(2, requests, &count, indices, both);
			if (count != 1 || indices[0] != 1)
				fail("MPI_Waitsome");
			s = both[0];
			break;
		case 5:
			MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &requests[0]);
			MPI_Waitany(2, requests, &which, &s);
			if (which != 0)
				fail("MPI_Waitany");
			break;
		}
		if (got % 3 != s.MPI_TAG)
			fail("a result with the wrong tag");
		sum += got;
		see(got);
		see(s.MPI_SOURCE);
		if (next < tasks)
			hand(next++, s.MPI_SOURCE);
	}
	dismiss();
	MPI_Cancel(&stop);
	MPI_Wait(&stop, &s);
	MPI_Test_cancelled(&s, &flag);
	printf("farm %d %d %x\n", sum, flag, seen);
}

// bound is a branch and bound: rank 0 keeps the best value and gives it with each piece; workers
// find better ones sooner or later, and what is worse than the best is cut off.
static void bound(void) {
	int piece[2], best = 1 << 30, open = 0, next = 0, cut = 0;
	if (rank > 0) {
		for (;;) {
			MPI_Recv(piece, 2, MPI_INT, 0, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			if (piece[0] < 0)
				return;
			toil(piece[0]);
			int value = 100000 - piece[0] * 7919 % 99991, found[2] = {piece[0], value < piece[1] ? value : piece[1]};
			MPI_Send(found, 2, MPI_INT, 0, 1, MPI_COMM_WORLD);
		}
	}
	MPI_Request r[64];
	int in[64][2];
	for (int i = 1; i < size; i++) {
		piece[0] = next++, piece[1] = best;
		MPI_Irecv(in[i], 2, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &r[i - 1]);
		MPI_Send(piece, 2, MPI_INT, i, 5, MPI_COMM_WORLD);
		open++;
	}
	while (open > 0) {
		MPI_Status s;
		int which;
		MPI_Waitany(size - 1, r, &which, &s);
		open--;
		if (in[which + 1][1] < best)
			best = in[which + 1][1];
		see(best);
		while (next < tasks && next * 7919 % 99991 < 100000 - best - 60000)
			next++, cut++; // it can't be better
		if (next >= tasks)
			continue;
		piece[0] = next++, piece[1] = best;
		MPI_Irecv(in[which + 1], 2, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &r[which]);
		MPI_Send(piece, 2, MPI_INT, s.MPI_SOURCE, 5, MPI_COMM_WORLD);
		open++;
	}
	piece[0] = -1;
	for (int i = 1; i < size; i++)
		MPI_Send(piece, 2, MPI_INT, i, 5, MPI_COMM_WORLD);
	printf("bound %d %x\n", best, seen + cut);
}

// balance gives each rank as much work as it did in the time before, by MPI_Wtime.
static void balance(void) {
	int shares[64], mine = 100;
	double took[64];
	for (int round = 0; round < tasks; round++) {
		double begin = MPI_Wtime();
		for (int i = 0; i < mine / 10; i++)
			toil(i);
		double t = MPI_Wtime() - begin;
		MPI_Gather(&t, 1, MPI_DOUBLE, took, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
		if (rank == 0) {
			double all = 0;
			for (int i = 0; i < size; i++)
				all += 1 / (took[i] + 1e-9);
			for (int i = 0; i < size; i++)
				shares[i] = 1 + (int)(100 * size / (took[i] + 1e-9) / all), see(shares[i]);
		}
		MPI_Scatter(shares, 1, MPI_INT, &mine, 1, MPI_INT, 0, MPI_COMM_WORLD);
		if (mine > 50)
			mine = 50;
		MPI_Send(shares, mine % 7, MPI_INT, rank, 3, MPI_COMM_WORLD); // how much depends on the time
		MPI_Recv(shares, 7, MPI_INT, rank, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	}
	if (rank == 0)
		printf("balance %x\n", seen);
}

// differ makes calls that depend on the process, which no order can help.
static void differ(void) {
	int flag;
	for (int i = 0; i < getpid() % 50 + 1; i++)
		MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
	MPI_Wtime();
}

// plain does nothing that timing decides.
static void plain(void) {
	int x = rank, sum = 0;
	for (int i = 0; i < tasks; i++) {
		MPI_Sendrecv_replace(&x, 1, MPI_INT, (rank + 1) % size, 1, (rank + size - 1) % size, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		MPI_Allreduce(&x, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
		see(x + sum);
	}
	if (rank == 0)
		printf("plain %x\n", seen);
}

enum { servers = 4, window = 3 };

// serve serves its part of the requests: whichever come to this thread.
static void *serve(void *which) {
	int *mine = which, request, flag, replies = tasks * (size - 1) / servers;
	MPI_Status s;
	MPI_Message m;
	for (int i = 0; i < replies; i++) {
		switch ((unsigned)(*mine + i) % 4) {
		case 0:
			MPI_Recv(&request, 1, MPI_INT, MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &s);
			break;
		case 1: {
			MPI_Request r;
			MPI_Irecv(&request, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &r);
			do
				MPI_Test(&r, &flag, &s);
			while (!flag);
			break;
		}
		case 2:
			MPI_Mprobe(MPI_ANY_SOURCE, 1, MPI_COMM_WORLD, &m, &s);
			MPI_Mrecv(&request, 1, MPI_INT, &m, &s);
			break;
		case 3:
			do
				MPI_Improbe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD, &flag, &m, &s);
			while (!flag);
			MPI_Mrecv(&request, 1, MPI_INT, &m, &s);
			break;
		}
		*mine = (int)(*mine * 31u + (unsigned)request + (unsigned)s.MPI_SOURCE);
		toil(*mine & 31);
		MPI_Send(mine, 1, MPI_INT, s.MPI_SOURCE, 2, MPI_COMM_WORLD);
	}
	return NULL;
}

// threads is a server of several threads that receive on one communicator from any source, and clients
// with some requests at a time.
static void threads(void) {
	pthread_t others[servers];
	int hashes[servers], reply, sent = 0;
	if (rank > 0) {
		int request = rank;
		for (int i = 0; i < tasks; i++) {
			for (; sent < tasks && sent < i + window; sent++)
				MPI_Send(&request, 1, MPI_INT, 0, 1, MPI_COMM_WORLD);
			MPI_Recv(&reply, 1, MPI_INT, 0, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
			request = (int)(request * 31u + (unsigned)reply);
		}
		return;
	}
	for (int i = 0; i < servers; i++)
		hashes[i] = i;
	for (int i = 1; i < servers; i++)
		pthread_create(&others[i], NULL, serve, &hashes[i]);
	serve(&hashes[0]);
	for (int i = 1; i < servers; i++)
		pthread_join(others[i], NULL);
	for (int i = 0; i < servers; i++)
		see(hashes[i]);
	printf("threads %x\n", seen);
}

// pool is the same, with threads that outlive safe points.
static pthread_barrier_t turns;
static int pooled[servers], closing;

static void *wait_and_serve(void *which) {
	for (;;) {
		pthread_barrier_wait(&turns);
		if (closing)
			return NULL;
		serve(which);
		pthread_barrier_wait(&turns);
	}
}

static void pool(void) {
	static pthread_t others[servers];
	if (rank > 0) {
		threads();
		return;
	}
	if (!others[1]) {
		pthread_barrier_init(&turns, NULL, servers);
		for (int i = 1; i < servers; i++)
			pthread_create(&others[i], NULL, wait_and_serve, &pooled[i]);
	}
	pthread_barrier_wait(&turns);
	serve(&pooled[0]);
	pthread_barrier_wait(&turns);
	for (int i = 0; i < servers; i++)
		see(pooled[i]);
	printf("pool %x\n", seen);
}

static void close_pool(void) {
	closing = 1;
	if (rank == 0)
		pthread_barrier_wait(&turns);
}

static void *hear(void *tag) {
	int x = 0;
	MPI_Recv(&x, 1, MPI_INT, 0, *(int *)tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
	return NULL;
}

// calm has two threads that each receive from a certain source.
static void calm(void) {
	pthread_t other;
	int tags[2] = {1, 2};
	if (rank > 0) {
		pthread_create(&other, NULL, hear, &tags[0]);
		hear(&tags[1]);
		pthread_join(other, NULL);
		return;
	}
	for (int to = 1; to < size; to++)
		for (int i = 0; i < 2; i++)
			MPI_Send(&rank, 1, MPI_INT, to, tags[i], MPI_COMM_WORLD);
	printf("calm\n");
}

static void act(const char *what) {
	if (!strcmp(what, "farm"))
		farm();
	else if (!strcmp(what, "bound"))
		bound();
	else if (!strcmp(what, "balance"))
		balance();
	else if (!strcmp(what, "differ"))
		differ();
	else if (!strcmp(what, "calm"))
		calm();
	else if (!strcmp(what, "plain"))
		plain();
	else if (!strcmp(what, "pool"))
		pool();
	else if (!strcmp(what, "threads") || !strcmp(what, "unasked"))
		threads();
	else
		fail("it isn't told what to do");
}

int main(int argc, char **argv) {
	int provided, phases = argc > 3 ? atoi(argv[3]) : 0;
	const char *what = argc > 1 ? argv[1] : "";
	int wanted = strcmp(what, "threads") && strcmp(what, "calm") && strcmp(what, "pool") ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE;
	MPI_Init_thread(&argc, &argv, wanted, &provided);
	if (provided != wanted)
		fail("MPI_Init_thread provides another level");
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	if (argc > 2)
		tasks = atoi(argv[2]);
	if (phases == 0)
		act(what);
	MPIX_State_register("phase", &phase, 1, MPI_INT);
	MPIX_State_register("seen", &seen, 1, MPI_UNSIGNED);
	MPIX_State_register("pooled", pooled, servers, MPI_INT);
	while (phase < phases) {
		act(what);
		phase++;
		MPIX_Safepoint(NULL);
	}
	if (!strcmp(what, "pool"))
		close_pool();
	MPI_Finalize();
	return 0;
}
