// ulfm HOW, on four ranks, goes on when ranks die: it revokes, agrees and shrinks (ULFM).
#define _GNU_SOURCE
#include <mpi.h>
#include "mpi-ext.h"

#include <setjmp.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

// The rest of the life of those that live: a communicator of them works.
static void go_on(MPI_Comm live, int size)
{
	int n, one = 1, sum = 0;
	CHECK(MPI_Comm_size(live, &n) == MPI_SUCCESS && n == size);
	for (int i = 0; i < 100; i++) {
		CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, live) == MPI_SUCCESS && sum == size);
	}
	MPI_Barrier(live);
}

#include "ulfmfinalises.h"

// Rank 1 dies in the middle of small collectives, which go through memory that all share.
static void loop(int rank)
{
	MPI_Comm comm, live;
	MPI_Group failed;
	MPI_Request pending;
	int one = 1, sum, code, x, flag, n;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	CHECK(MPIX_Comm_is_revoked(comm, &flag) == MPI_SUCCESS && !flag);
	flag = ~(1 << rank);
	CHECK(MPIX_Comm_agree(comm, &flag) == MPI_SUCCESS && flag == ~15);
	MPI_Irecv(&x, 1, MPI_INT, rank == 0 ? 2 : 0, 9, comm, &pending); // nobody sends it, and the source lives
	for (int i = 0;; i++) {
		if (i == 200 && rank == 1)
			raise(SIGKILL);
		code = MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm);
		if (code != MPI_SUCCESS)
			break;
		CHECK(i <= 200 && sum == 4);
	}
	CHECK(class_of(code) == MPIX_ERR_PROC_FAILED || class_of(code) == MPIX_ERR_REVOKED);
	if (rank != 3) // not all revoke
		CHECK(MPIX_Comm_revoke(comm) == MPI_SUCCESS);
	code = MPI_Wait(&pending, MPI_STATUS_IGNORE);
	CHECK(class_of(code) == MPIX_ERR_REVOKED && pending == MPI_REQUEST_NULL);
	CHECK(MPIX_Comm_is_revoked(comm, &flag) == MPI_SUCCESS && flag);
	CHECK(class_of(MPI_Barrier(comm)) == MPI_ERR_REVOKED);
	CHECK(class_of(MPI_Send(&x, 1, MPI_INT, MPI_PROC_NULL, 0, comm)) == MPI_ERR_REVOKED);
	CHECK(class_of(MPI_Send(&x, 1, MPI_INT, 0, 0, comm)) == MPI_ERR_REVOKED);
	CHECK(class_of(MPI_Probe(0, 0, comm, MPI_STATUS_IGNORE)) == MPI_ERR_REVOKED);
	CHECK(class_of(MPI_Comm_dup(comm, &live)) == MPI_ERR_REVOKED);
	CHECK(class_of(MPI_Comm_split(comm, 0, 0, &live)) == MPI_ERR_REVOKED);
	CHECK(MPI_Comm_size(comm, &n) == MPI_SUCCESS && n == 4);

	flag = 7;
	code = PMPI_Comm_agree(comm, &flag);
	CHECK(class_of(code) == MPIX_ERR_PROC_FAILED && flag == 7);
	CHECK(MPIX_Comm_get_failed(comm, &failed) == MPI_SUCCESS);
	CHECK(MPI_Group_size(failed, &n) == MPI_SUCCESS && n == 1);
	CHECK(MPIX_Comm_ack_failed(comm, n, &n) == MPI_SUCCESS && n == 1);
	MPI_Group_free(&failed);
	CHECK(MPIX_Comm_iagree(comm, &flag, &pending) == MPI_SUCCESS);
	CHECK(MPI_Wait(&pending, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == 7);
	CHECK(MPIX_Comm_agree_failed(comm, &failed) == MPI_SUCCESS);
	CHECK(MPI_Group_size(failed, &n) == MPI_SUCCESS && n == 1);

	CHECK(MPI_Comm_shrink(comm, &live) == MPI_SUCCESS);
	CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS);
	go_on(live, 3);
	MPI_Comm again;
	CHECK(MPIX_Comm_ishrink(live, &again, &pending) == MPI_SUCCESS);
	CHECK(MPI_Wait(&pending, MPI_STATUS_IGNORE) == MPI_SUCCESS);
	CHECK(MPI_Comm_free(&live) == MPI_SUCCESS);
	go_on(again, 3);
	CHECK(MPIX_Comm_revoke(MPI_COMM_WORLD) == MPI_SUCCESS); // MPI_Finalize works all the same
}

// An error handler revokes, shrinks and jumps out of the call that failed.
static jmp_buf out;
static MPI_Comm shrunk = MPI_COMM_NULL;
static void handler(MPI_Comm *comm, int *error, ...)
{
	(void)error;
	MPIX_Comm_revoke(*comm);
	if (MPIX_Comm_shrink(*comm, &shrunk) == MPI_SUCCESS)
		longjmp(out, 1);
}

static void jumps(int rank)
{
	MPI_Errhandler h;
	int x = 0;
	MPI_Comm comm;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_create_errhandler(handler, &h);
	MPI_Comm_set_errhandler(comm, h);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 2)
		raise(SIGKILL);
	if (setjmp(out) == 0) {
		MPI_Recv(&x, 1, MPI_INT, rank == 0 ? 2 : 0, 0, comm, MPI_STATUS_IGNORE); // rank 0 sees the death, the others its revocation
		abort();
	}
	go_on(shrunk, 3);
}

// Ranks 2 and 3 end together: because one aborts their communicator, or because of an error there.
static void aborts(int rank, int error)
{
	MPI_Comm part;
	int x;
	MPI_Comm_split(MPI_COMM_WORLD, rank / 2, 0, &part);
	MPI_Comm_set_errhandler(part, MPI_ERRORS_ABORT);
	if (rank == 3)
		usleep(300000); // all others have their communicator
	if (rank == 3 && error)
		MPI_Send(&x, 1, MPI_INT, 99, 0, part);
	else if (rank == 3)
		MPI_Abort(part, 7);
	if (rank == 2)
		MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 5, part, MPI_STATUS_IGNORE); // it ends here
	CHECK(rank < 2);
	for (int dead = 2; dead < 4; dead++)
		CHECK(class_of(MPI_Recv(&x, 1, MPI_INT, dead, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED);
	CHECK(MPI_Barrier(part) == MPI_SUCCESS);
}

// Four ranks and two spares: rank 1 dies, and then the spare that has become rank 1.
static void refills(int rank)
{
	MPI_Comm pool = MPI_COMM_WORLD, next;
	int *spares, flag, n, me;
	for (int left = 2;; left--) {
		CHECK(MPIX_Comm_refill(pool, &next) == MPI_SUCCESS);
		MPI_Comm_size(next, &n);
		MPI_Comm_rank(next, &me);
		CHECK(MPI_Comm_get_attr(next, MPIX_SPARES, &spares, &flag) == MPI_SUCCESS && flag && *spares == left);
		CHECK(n == 4 + left);
		CHECK(me == (rank < 4 ? rank : rank < 6 - left ? 1 : left + rank - 2));
		if (pool != MPI_COMM_WORLD)
			MPI_Comm_free(&pool);
		pool = next;
		if (left == 0)
			break;
		if (me == 1)
			raise(SIGKILL);
	}
	go_on(pool, 4);
}

// By a hint collectives survive: rank 1 dies, and nobody shrinks. Data of every other round is large.
static void resilient(int rank)
{
	MPI_Comm comm;
	MPI_Info info;
	enum { most = 20000 };
	static int give[most], sum[most];
	int code;
	for (int i = 0; i < most; i++)
		give[i] = 1;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Info_create(&info);
	MPI_Info_set(info, "banyan_resilient", "true");
	MPI_Comm_set_info(comm, info);
	MPI_Info_free(&info);
	for (int i = 0; i < 200; i++) {
		if (i == 100 && rank == 1)
			raise(SIGKILL);
		int n = i % 2 ? most : 1;
		sum[0] = sum[n - 1] = -1;
		code = MPI_Allreduce(give, sum, n, MPI_INT, MPI_SUM, comm);
		CHECK(sum[0] == (i < 100 ? 4 : 3) && sum[n - 1] == sum[0]);
		CHECK(i == 100 ? class_of(code) == MPIX_ERR_PROC_FAILED : code == MPI_SUCCESS);
		if (i == 100)
			MPIX_Comm_failure_ack(comm);
		code = MPI_Barrier(comm);
		CHECK(code == MPI_SUCCESS || i == 99 || i == 100);
	}
}

// Agreements through common memory: rank 3 dies between two of them, when it has given its flags.
// Those after it have one error, at the same agreement of all that live.
static void agrees(int rank)
{
	MPI_Comm next;
	int failed = -1, acked, flag, code, size;
	for (int i = 0; i < 600; i++) {
		flag = i << 4 | (15 & ~(1 << rank));
		code = MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
		CHECK(flag == (i << 4 | (i > 300) * 8) && (code == MPI_SUCCESS) == (i != 301));
		if (code == MPIX_ERR_PROC_FAILED) {
			CHECK(failed < 0);
			failed = i;
			MPIX_Comm_ack_failed(MPI_COMM_WORLD, 1, &acked);
		}
		if (i == 300 && rank == 3)
			raise(SIGKILL);
		if (i == 400 && rank == 1)
			MPIX_Comm_revoke(MPI_COMM_WORLD);
	}
	CHECK(failed == 301);
	CHECK(MPIX_Comm_shrink(MPI_COMM_WORLD, &next) == MPI_SUCCESS && MPI_Comm_size(next, &size) == MPI_SUCCESS && size == 3);
	for (int i = 0; i < 600; i++) {
		flag = ~(1 << rank);
		CHECK(MPIX_Comm_agree(next, &flag) == MPI_SUCCESS && flag == ~7);
	}
	MPI_Comm_free(&next);
}

// Rank 2 doesn't enter the agreement for which all others wait, after some that all have entered;
// nor a shrink, nor what stands on agreements.
static void stuck(int rank, const char *how)
{
	int flag = 1, sum, before = atoi(how);
	MPI_Comm next;
	MPI_Info info;
	MPI_Request request;
	for (int i = 0; i < before; i++)
		CHECK(MPIX_Comm_agree(MPI_COMM_WORLD, &flag) == MPI_SUCCESS);
	if (rank == 2)
		pause();
	if (strcmp(how, "shrink") == 0) {
		MPIX_Comm_shrink(MPI_COMM_WORLD, &next);
	} else if (strcmp(how, "iagree") == 0) {
		MPIX_Comm_iagree(MPI_COMM_WORLD, &flag, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else if (strcmp(how, "ishrink") == 0) {
		MPIX_Comm_ishrink(MPI_COMM_WORLD, &next, &request);
		MPI_Wait(&request, MPI_STATUS_IGNORE);
	} else if (strcmp(how, "resilient") == 0) {
		MPI_Info_create(&info);
		MPI_Info_set(info, "banyan_resilient", "true");
		MPI_Comm_set_info(MPI_COMM_WORLD, info);
		MPI_Info_free(&info);
		MPI_Allreduce(&flag, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
	} else {
		MPIX_Comm_agree(MPI_COMM_WORLD, &flag);
	}
}

// In a job that hides deaths agreements, shrinks and resilient collectives are as without failures,
// and nothing can be revoked.
static void hidden(void)
{
	int rank, ranks, size, flag, sum, one = 1;
	char text[MPI_MAX_ERROR_STRING];
	MPI_Comm live, next;
	MPI_Group failed;
	MPI_Request request;
	MPI_Info info;
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &ranks);
	for (int i = 0; i < 300; i++) {
		flag = ~(1 << rank) & ~(i << 8);
		CHECK(MPIX_Comm_agree(MPI_COMM_WORLD, &flag) == MPI_SUCCESS && flag == (~((1 << ranks) - 1) & ~(i << 8)));
	}
	flag = 6 + rank % 2;
	CHECK(MPIX_Comm_iagree(MPI_COMM_WORLD, &flag, &request) == MPI_SUCCESS && MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == 6);
	CHECK(MPIX_Comm_shrink(MPI_COMM_WORLD, &live) == MPI_SUCCESS && MPI_Comm_size(live, &size) == MPI_SUCCESS && size == ranks);
	CHECK(MPIX_Comm_ishrink(live, &next, &request) == MPI_SUCCESS && MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
	CHECK(MPIX_Comm_agree_failed(next, &failed) == MPI_SUCCESS && MPI_Group_size(failed, &size) == MPI_SUCCESS && size == 0);
	MPI_Group_free(&failed);
	MPI_Comm_free(&live);
	CHECK(MPIX_Comm_refill(next, &live) == MPI_SUCCESS && MPI_Comm_size(live, &size) == MPI_SUCCESS && size == ranks);
	MPI_Info_create(&info);
	MPI_Info_set(info, "banyan_resilient", "true");
	CHECK(MPI_Comm_set_info(live, info) == MPI_SUCCESS);
	MPI_Info_free(&info);
	CHECK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, live) == MPI_SUCCESS && sum == ranks);
	MPI_Comm_free(&live);
	MPI_Comm_free(&next);
	int code = MPIX_Comm_revoke(MPI_COMM_WORLD), length;
	CHECK(code != MPI_SUCCESS && MPI_Error_string(code, text, &length) == MPI_SUCCESS);
	CHECK(MPI_Barrier(MPI_COMM_WORLD) == MPI_SUCCESS);
}

// An error handler that notes what it was called with.
static int noted;
static void notes(MPI_Comm *comm, int *error, ...)
{
	(void)comm;
	noted = class_of(*error);
}

// What a rank learns of failures, and what becomes of handlers, attributes and topologies. Rank 3
// dies, without entering the barrier.
static void details(int rank)
{
	MPI_Comm comm, grid, live, other;
	MPI_Errhandler h, got;
	MPI_Group failed;
	MPI_Request requests[3], again;
	MPI_Status statuses[3];
	int n, key, flag, acked, x, y, dims[] = {2, 2}, around[] = {0, 0}, zero = 0;
	void *value;
	MPI_Comm_create_errhandler(notes, &h);
	MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_dup(MPI_COMM_WORLD, &other);
	MPI_Cart_create(MPI_COMM_WORLD, 2, dims, around, 0, &grid);
	MPI_Comm_set_errhandler(comm, h);
	MPI_Comm_set_errhandler(grid, h);
	MPI_Comm_set_attr(grid, key, &key);
	MPI_Send_init(&x, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &again);
	MPI_Barrier(MPI_COMM_WORLD);
	if (rank == 3)
		raise(SIGKILL);
	CHECK(class_of(MPI_Barrier(other)) == MPIX_ERR_PROC_FAILED);

	// The function says in which status to look, and the handler is told what happened.
	MPI_Irecv(&x, 1, MPI_INT, 3, 1, comm, &requests[0]);
	MPI_Irecv(&y, 1, MPI_INT, (rank + 1) % 3, 2, comm, &requests[1]);
	MPI_Isend(&rank, 1, MPI_INT, 3, 0, comm, &requests[2]);
	noted = 0;
	CHECK(MPI_Waitall(2, requests, statuses) == MPI_ERR_IN_STATUS && noted == MPIX_ERR_PROC_FAILED);
	CHECK(class_of(statuses[0].MPI_ERROR) == MPIX_ERR_PROC_FAILED && class_of(statuses[1].MPI_ERROR) == MPI_ERR_PENDING);
	CHECK(requests[0] == MPI_REQUEST_NULL && requests[1] != MPI_REQUEST_NULL);
	CHECK(class_of(MPI_Wait(&requests[2], MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED);

	// Both ways to acknowledge count the same, in this communicator alone.
	CHECK(MPIX_Comm_ack_failed(comm, 0, &acked) == MPI_SUCCESS && acked == 0);
	CHECK(MPIX_Comm_failure_ack(comm) == MPI_SUCCESS);
	CHECK(MPIX_Comm_ack_failed(comm, 0, &acked) == MPI_SUCCESS && acked == 1);
	CHECK(MPIX_Comm_failure_get_acked(comm, &failed) == MPI_SUCCESS && MPI_Group_size(failed, &n) == MPI_SUCCESS && n == 1);
	MPI_Group world;
	MPI_Comm_group(MPI_COMM_WORLD, &world);
	CHECK(MPI_Group_translate_ranks(failed, 1, &zero, world, &n) == MPI_SUCCESS && n == 3);
	MPI_Group_free(&failed);
	CHECK(MPIX_Comm_ack_failed(other, 0, &acked) == MPI_SUCCESS && acked == 0);
	CHECK(MPIX_Comm_failure_get_acked(other, &failed) == MPI_SUCCESS && MPI_Group_size(failed, &n) == MPI_SUCCESS && n == 0);
	MPI_Group_free(&failed);
	MPI_Group_free(&world);

	n = 1;
	CHECK(class_of(MPIX_Comm_agree(other, &n)) == MPIX_ERR_PROC_FAILED); // nobody revokes before all have come here

	// What needs others fails in a revoked communicator, even if it needs nobody.
	CHECK(MPIX_Comm_revoke(comm) == MPI_SUCCESS && MPIX_Comm_revoke(comm) == MPI_SUCCESS);
	CHECK(class_of(MPI_Wait(&requests[1], MPI_STATUS_IGNORE)) == MPIX_ERR_REVOKED);
	CHECK(class_of(MPI_Recv(&x, 1, MPI_INT, MPI_PROC_NULL, 0, comm, MPI_STATUS_IGNORE)) == MPIX_ERR_REVOKED);
	CHECK(class_of(MPI_Iprobe(MPI_ANY_SOURCE, 0, comm, &flag, MPI_STATUS_IGNORE)) == MPIX_ERR_REVOKED);
	n = MPI_Start(&again);
	CHECK(class_of(n == MPI_SUCCESS ? MPI_Wait(&again, MPI_STATUS_IGNORE) : n) == MPIX_ERR_REVOKED);
	MPI_Request_free(&again);
	CHECK(MPI_Comm_get_errhandler(comm, &got) == MPI_SUCCESS && got == h);

	// Who shrinks keeps the handler, and neither attributes nor the topology.
	CHECK(MPIX_Comm_shrink(grid, &live) == MPI_SUCCESS && MPI_Comm_size(live, &n) == MPI_SUCCESS && n == 3);
	CHECK(MPI_Comm_get_errhandler(live, &got) == MPI_SUCCESS && got == h);
	CHECK(MPI_Comm_get_attr(live, key, &value, &flag) == MPI_SUCCESS && !flag);
	CHECK(MPI_Topo_test(live, &n) == MPI_SUCCESS && n == MPI_UNDEFINED);

	// An agreement in the background ends although this rank calls nothing.
	struct stat s;
	int at[2] = {getpid(), rank == 0 ? memfd_create("answer", 0) : 0};
	MPI_Bcast(at, 2, MPI_INT, 0, live);
	flag = 5;
	CHECK(MPIX_Comm_iagree(live, &flag, &requests[0]) == MPI_SUCCESS);
	if (rank == 0) {
		for (int i = 0; i < 3000 && fstat(at[1], &s) == 0 && s.st_size < 2; i++)
			usleep(10000);
		CHECK(s.st_size == 2);
	}
	CHECK(MPI_Wait(&requests[0], MPI_STATUS_IGNORE) == MPI_SUCCESS && flag == 5);
	if (rank > 0) {
		char path[64];
		snprintf(path, sizeof path, "/proc/%d/fd/%d", at[0], at[1]);
		int f = open(path, O_WRONLY | O_APPEND);
		CHECK(f >= 0 && write(f, "x", 1) == 1);
		close(f);
	}
	go_on(live, 3);
	CHECK(MPI_Comm_free(&comm) == MPI_SUCCESS && MPI_Comm_free(&grid) == MPI_SUCCESS);
}

// Rank 3 dies, and nobody needs it.
static void unneeded(int rank)
{
	MPI_Comm part;
	MPI_Comm_split(MPI_COMM_WORLD, rank == 3, 0, &part);
	if (rank == 3) {
		for (int from = 0; from < 3; from++) // all others have theirs
			MPI_Recv(NULL, 0, MPI_INT, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
		raise(SIGKILL);
	}
	MPI_Send(NULL, 0, MPI_INT, 3, 0, MPI_COMM_WORLD);
	usleep(300000);
	for (int i = 0; i < 100; i++)
		MPI_Barrier(part);
}

int main(int argc, char **argv)
{
	int rank, flag, *tolerant;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	CHECK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPIX_FT, &tolerant, &flag) == MPI_SUCCESS && flag && *tolerant == (argc < 3));
	if (strcmp(argv[1], "unneeded") == 0) {
		unneeded(rank);
	} else {
		MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
		if (strcmp(argv[1], "refills") == 0)
			refills(rank);
		else if (strcmp(argv[1], "resilient") == 0)
			resilient(rank);
		else if (strncmp(argv[1], "stuck-", 6) == 0)
			stuck(rank, argv[1] + 6);
		else if (strncmp(argv[1], "finalises-", 10) == 0)
			finalises(rank, atoi(argv[1] + 10));
		else if (strncmp(argv[1], "unopened-", 9) == 0)
			unopened(rank, atoi(argv[1] + 9));
		else if (strcmp(argv[1], "agrees") == 0)
			agrees(rank);
		else if (strcmp(argv[1], "details") == 0)
			details(rank);
		else if (strcmp(argv[1], "hidden") == 0)
			hidden();
		else if (strncmp(argv[1], "aborts", 6) == 0)
			aborts(rank, strcmp(argv[1], "aborts-error") == 0);
		else
			(strcmp(argv[1], "jumps") == 0 ? jumps : loop)(rank);
	}
	MPI_Finalize();
	if (wrong == 0)
		printf("rank %d goes on\n", rank);
	return wrong != 0;
}
