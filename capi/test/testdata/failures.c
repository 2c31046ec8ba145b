// failures HOW, on four ranks: what sends, receives, probes and tests of several requests say when
// rank 3 has died, and what strict agreements promise.
#include <mpi.h>
#include "mpi-ext.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { arrived = 7, never = 8, word = 9, later = 10, answer = 11 };

// An error handler that notes what it was called with.
static int noted;
static void notes(MPI_Comm *comm, int *error, ...)
{
	(void)comm;
	noted = class_of(*error);
}

// Waits until rank 3 is known to be dead.
static void learns(MPI_Comm comm)
{
	int x;
	CHECK(class_of(MPI_Recv(&x, 1, MPI_INT, 3, never, comm, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED);
}

// Asks rank 1 for a message with a tag, and returns when it has arrived.
static void arrives(int tag, MPI_Comm comm)
{
	MPI_Send(&tag, 1, MPI_INT, 1, word, comm);
	OK(MPI_Probe(1, tag, comm, MPI_STATUS_IGNORE));
}

// What rank 3 had sent, and has arrived, is received after its death.
static void received_after_death(MPI_Comm comm)
{
	int x[3];
	MPI_Status status;
	MPI_Request request;
	for (int i = 0; i < 3; i++)
		OK(MPI_Recv(&x[i], 1, MPI_INT, 3, arrived + 100 * i, comm, &status));
	CHECK(x[0] == 30 && x[1] == 31 && x[2] == 32 && status.MPI_SOURCE == 3);
	learns(comm);
	OK(MPI_Irecv(x, 1, MPI_INT, 3, arrived, comm, &request)); // nothing of this tag is left
	CHECK(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED && request == MPI_REQUEST_NULL);
}

// Receives and probes that name no source, while the death isn't acknowledged.
static void any_source(MPI_Comm comm)
{
	int x = -1, flag = -1, index, n, indices[2];
	MPI_Status status, statuses[2];
	MPI_Request wild, pair[2];
	MPI_Message message;

	// One that was under way says so in each wait and test, stays active, and may be cancelled.
	OK(MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, later, comm, &wild));
	for (int i = 0; i < 3; i++) {
		noted = 0;
		CHECK(class_of(MPI_Wait(&wild, &status)) == MPIX_ERR_PROC_FAILED_PENDING && wild != MPI_REQUEST_NULL);
		CHECK(noted == MPIX_ERR_PROC_FAILED_PENDING);
		CHECK(class_of(MPI_Test(&wild, &flag, &status)) == MPIX_ERR_PROC_FAILED_PENDING && wild != MPI_REQUEST_NULL);
		CHECK(class_of(MPI_Waitany(1, &wild, &index, &status)) == MPIX_ERR_PROC_FAILED_PENDING && wild != MPI_REQUEST_NULL);
	}
	OK(MPI_Cancel(&wild));
	OK(MPI_Wait(&wild, &status));
	CHECK(MPI_Test_cancelled(&status, &flag) == MPI_SUCCESS && flag && wild == MPI_REQUEST_NULL);

	// The cancelled one takes no message. One that waits takes it though the death isn't acknowledged.
	OK(MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, later, comm, &wild));
	CHECK(class_of(MPI_Wait(&wild, &status)) == MPIX_ERR_PROC_FAILED_PENDING);
	index = later;
	MPI_Send(&index, 1, MPI_INT, 1, word, comm);
	do
		n = MPI_Test(&wild, &flag, &status);
	while (class_of(n) == MPIX_ERR_PROC_FAILED_PENDING);
	CHECK(n == MPI_SUCCESS && flag && x == later && status.MPI_SOURCE == 1 && wild == MPI_REQUEST_NULL);

	// Blocking calls fail and are withdrawn: they take nothing that comes afterwards.
	x = -1;
	CHECK(class_of(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, later, comm, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED);
	CHECK(class_of(MPI_Probe(MPI_ANY_SOURCE, later, comm, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED);
	CHECK(class_of(MPI_Mprobe(MPI_ANY_SOURCE, later, comm, &message, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED);
	CHECK(class_of(MPI_Sendrecv(&x, 0, MPI_INT, MPI_PROC_NULL, 0, &x, 1, MPI_INT, MPI_ANY_SOURCE, later, comm, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED);
	CHECK(class_of(MPI_Iprobe(MPI_ANY_SOURCE, later, comm, &flag, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED);
	arrives(later, comm);
	CHECK(x == -1);

	// A message that has arrived wins, in each of them.
	OK(MPI_Iprobe(MPI_ANY_SOURCE, later, comm, &flag, &status));
	CHECK(flag && status.MPI_SOURCE == 1);
	OK(MPI_Probe(MPI_ANY_SOURCE, later, comm, &status));
	OK(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, later, comm, &status));
	CHECK(x == later);
	arrives(later, comm);
	OK(MPI_Mprobe(MPI_ANY_SOURCE, later, comm, &message, &status));
	OK(MPI_Mrecv(&x, 1, MPI_INT, &message, &status));
	arrives(later, comm);
	OK(MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, later, comm, &wild));
	OK(MPI_Wait(&wild, &status));

	// Of several requests the wild one has its error, and the other goes on.
	OK(MPI_Irecv(&x, 1, MPI_INT, MPI_ANY_SOURCE, later, comm, &pair[0]));
	OK(MPI_Irecv(&n, 1, MPI_INT, 1, answer, comm, &pair[1]));
	noted = 0;
	CHECK(MPI_Waitall(2, pair, statuses) == MPI_ERR_IN_STATUS && noted == MPIX_ERR_PROC_FAILED_PENDING);
	CHECK(class_of(statuses[0].MPI_ERROR) == MPIX_ERR_PROC_FAILED_PENDING && class_of(statuses[1].MPI_ERROR) == MPI_ERR_PENDING);
	CHECK(pair[0] != MPI_REQUEST_NULL && pair[1] != MPI_REQUEST_NULL);
	noted = 0;
	CHECK(MPI_Waitsome(2, pair, &n, indices, statuses) == MPI_ERR_IN_STATUS && noted == MPIX_ERR_PROC_FAILED_PENDING);
	CHECK(n == 1 && indices[0] == 0 && class_of(statuses[0].MPI_ERROR) == MPIX_ERR_PROC_FAILED_PENDING && pair[0] != MPI_REQUEST_NULL);

	// Once the death is acknowledged receives wait as if nobody had died.
	OK(MPIX_Comm_failure_ack(comm));
	OK(MPI_Test(&pair[0], &flag, &status));
	CHECK(!flag);
	OK(MPI_Iprobe(MPI_ANY_SOURCE, later, comm, &flag, &status));
	CHECK(!flag);
	index = later;
	MPI_Send(&index, 1, MPI_INT, 1, word, comm);
	OK(MPI_Wait(&pair[0], &status));
	CHECK(x == later && status.MPI_SOURCE == 1);
	index = answer;
	MPI_Send(&index, 1, MPI_INT, 1, word, comm);
	OK(MPI_Wait(&pair[1], &status));
	CHECK(n == answer);
}

// Several requests, of which one needs the dead rank, and sends to it.
static void several(MPI_Comm comm)
{
	int x, y, z = 0, n, flag = -1, index = -1, indices[3];
	static int large[100000];
	MPI_Status status, statuses[3];
	MPI_Request requests[3];
	for (int how = 0; how < 6; how++) {
		OK(MPI_Irecv(&x, 1, MPI_INT, 1, answer, comm, &requests[0]));
		OK(MPI_Irecv(&y, 1, MPI_INT, 3, never, comm, &requests[1]));
		OK(MPI_Irecv(&z, 1, MPI_INT, MPI_PROC_NULL, 0, comm, &requests[2]));
		memset(statuses, 0xff, sizeof statuses);
		noted = 0;
		switch (how) {
		case 0:
			CHECK(MPI_Waitall(3, requests, statuses) == MPI_ERR_IN_STATUS);
			CHECK(statuses[0].MPI_ERROR == MPI_ERR_PENDING && class_of(statuses[1].MPI_ERROR) == MPIX_ERR_PROC_FAILED);
			CHECK(statuses[2].MPI_ERROR == MPI_SUCCESS || statuses[2].MPI_ERROR == MPI_ERR_PENDING);
			break;
		case 1:
			do // the death is known, and the request learns of it in its own time
				n = MPI_Testall(3, requests, &flag, statuses);
			while (n == MPI_SUCCESS && !flag);
			CHECK(n == MPI_ERR_IN_STATUS);
			CHECK(statuses[0].MPI_ERROR == MPI_ERR_PENDING && class_of(statuses[1].MPI_ERROR) == MPIX_ERR_PROC_FAILED);
			break;
		case 2:
			for (n = MPI_SUCCESS; n == MPI_SUCCESS && requests[1] != MPI_REQUEST_NULL;)
				n = MPI_Waitsome(3, requests, &index, indices, statuses);
			CHECK(n == MPI_ERR_IN_STATUS);
			for (n = 0; n < index && indices[n] != 1; n++)
				;
			CHECK(n < index && class_of(statuses[n].MPI_ERROR) == MPIX_ERR_PROC_FAILED);
			break;
		case 3:
			do
				n = MPI_Testsome(3, requests, &index, indices, statuses);
			while (n == MPI_SUCCESS);
			CHECK(n == MPI_ERR_IN_STATUS);
			for (n = 0; n < index && indices[n] != 1; n++)
				;
			CHECK(n < index && class_of(statuses[n].MPI_ERROR) == MPIX_ERR_PROC_FAILED);
			break;
		case 4:
			OK(MPI_Wait(&requests[2], &status));
			CHECK(class_of(MPI_Waitany(3, requests, &index, &status)) == MPIX_ERR_PROC_FAILED && index == 1);
			break;
		case 5:
			OK(MPI_Wait(&requests[2], &status));
			do
				n = MPI_Testany(3, requests, &index, &flag, &status);
			while (n == MPI_SUCCESS && !flag);
			CHECK(class_of(n) == MPIX_ERR_PROC_FAILED && index == 1);
		}
		CHECK(noted == MPIX_ERR_PROC_FAILED); // the handler gets the class of what failed
		CHECK(requests[0] != MPI_REQUEST_NULL && requests[1] == MPI_REQUEST_NULL);
		n = answer;
		MPI_Send(&n, 1, MPI_INT, 1, word, comm);
		OK(MPI_Wait(&requests[0], &status)); // what hadn't ended is as before
		CHECK(x == answer);
		OK(MPI_Wait(&requests[2], &status));
	}

	// A send that can't arrive reports that when it is waited for, not before.
	OK(MPI_Isend(&x, 1, MPI_INT, 3, never, comm, &requests[0]));
	OK(MPI_Issend(&x, 1, MPI_INT, 3, never, comm, &requests[1]));
	OK(MPI_Isend(large, 100000, MPI_INT, 3, never, comm, &requests[2]));
	for (int i = 0; i < 3; i++)
		CHECK(class_of(MPI_Wait(&requests[i], &status)) == MPIX_ERR_PROC_FAILED && requests[i] == MPI_REQUEST_NULL);
	CHECK(class_of(MPI_Send(&x, 1, MPI_INT, 3, never, comm)) == MPIX_ERR_PROC_FAILED);
	CHECK(class_of(MPI_Ssend(&x, 1, MPI_INT, 3, never, comm)) == MPIX_ERR_PROC_FAILED);
	OK(MPI_Send_init(&x, 1, MPI_INT, 3, never, comm, &requests[0]));
	for (int i = 0; i < 2; i++) {
		n = MPI_Start(&requests[0]);
		CHECK(class_of(n == MPI_SUCCESS ? MPI_Wait(&requests[0], &status) : n) == MPIX_ERR_PROC_FAILED && requests[0] != MPI_REQUEST_NULL);
	}
	OK(MPI_Request_free(&requests[0]));
}

static void requests(int rank)
{
	MPI_Comm comm;
	MPI_Errhandler h;
	int x, tag = 0;
	MPI_Comm_create_errhandler(notes, &h);
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Comm_set_errhandler(comm, h);
	switch (rank) {
	case 0:
		for (int i = 2; i >= 0; i--)
			OK(MPI_Probe(3, arrived + 100 * i, comm, MPI_STATUS_IGNORE)); // it has arrived
		MPI_Send(NULL, 0, MPI_INT, 3, word, comm);
		received_after_death(comm);
		any_source(comm);
		several(comm);
		tag = 0;
		MPI_Send(&tag, 1, MPI_INT, 1, word, comm);
		break;
	case 1: // sends what rank 0 asks for
		for (;;) {
			OK(MPI_Recv(&tag, 1, MPI_INT, 0, word, comm, MPI_STATUS_IGNORE));
			if (tag == 0)
				break;
			OK(MPI_Send(&tag, 1, MPI_INT, 0, tag, comm));
		}
		break;
	case 2: // learns of the death by a receive that was under way
		CHECK(class_of(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, never, comm, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED);
		break;
	case 3:
		for (int i = 0; i < 3; i++) {
			x = 30 + i;
			MPI_Send(&x, 1, MPI_INT, 0, arrived + 100 * i, comm);
		}
		MPI_Recv(NULL, 0, MPI_INT, 0, word, comm, MPI_STATUS_IGNORE);
		raise(SIGKILL);
	}
	MPI_Comm_free(&comm);
}

// Strict agreements: once one has returned anywhere, all that live have its outcome. Rank 3 dies
// as soon as it has returned from one; the others have the same, though they agree again at once.
static void strict(int rank)
{
	MPI_Comm comm, live;
	MPI_Info info;
	MPI_Request request;
	char value[8] = "";
	int flag, code, acked, size, length = sizeof value;
	MPI_Comm_dup(MPI_COMM_WORLD, &comm);
	MPI_Info_create(&info);
	MPI_Info_set(info, "banyan_strict_agreement", "true");
	OK(MPI_Comm_set_info(comm, info));
	MPI_Info_free(&info);
	OK(MPI_Comm_get_info(comm, &info));
	CHECK(MPI_Info_get_string(info, "banyan_strict_agreement", &length, value, &flag) == MPI_SUCCESS && flag && strcmp(value, "true") == 0);
	MPI_Info_free(&info);
	for (int i = 0; i < 200; i++) {
		flag = i << 4 | (15 & ~(1 << rank));
		if (i % 2) {
			code = MPIX_Comm_agree(comm, &flag);
		} else {
			code = MPIX_Comm_iagree(comm, &flag, &request);
			if (code == MPI_SUCCESS)
				code = MPI_Wait(&request, MPI_STATUS_IGNORE);
		}
		if (i == 100 && rank == 3)
			raise(SIGKILL);
		CHECK(flag == (i << 4 | (i > 100) * 8));
		CHECK(i == 101 ? class_of(code) == MPIX_ERR_PROC_FAILED : code == MPI_SUCCESS);
		if (code != MPI_SUCCESS)
			MPIX_Comm_ack_failed(comm, 1, &acked);
	}
	OK(MPIX_Comm_shrink(comm, &live));
	CHECK(MPI_Comm_size(live, &size) == MPI_SUCCESS && size == 3);
	OK(MPI_Barrier(live));
	MPI_Comm_free(&live);
	MPI_Comm_free(&comm);
}

int main(int argc, char **argv)
{
	int rank;
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
	(strcmp(argv[1], "strict") == 0 ? strict : requests)(rank);
	MPI_Finalize();
	if (wrong == 0)
		printf("rank %d goes on\n", rank);
	return wrong != 0;
}
