// Files whose end doesn't depend on timing, for jobs with replicas that are killed: what is written
// depends on what was read before, so that a write that is done twice shows.
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int rank, size;

static void check(int code, const char *what) {
	if (code == MPI_SUCCESS)
		return;
	char text[MPI_MAX_ERROR_STRING];
	int n;
	MPI_Error_string(code, text, &n);
	fprintf(stderr, "rank %d: %s: %s\n", rank, what, text);
	MPI_Abort(MPI_COMM_WORLD, 3);
}

#define CHECK(call) check(call, #call)

static MPI_File opened(const char *dir, const char *name, int mode) {
	char path[4096];
	snprintf(path, sizeof path, "%s/%s", dir, name);
	MPI_File f;
	CHECK(MPI_File_open(MPI_COMM_WORLD, path, mode, MPI_INFO_NULL, &f));
	return f;
}

enum { pieces = 64, big = 200000 };

// counters: each rank's number goes up by one each round. The next rank then writes over a common
// place what it has heard.
static void count(MPI_File f, int round) {
	long n = 0, common = 0;
	MPI_Status status;
	CHECK(MPI_File_read_at(f, 8 * rank, &n, 1, MPI_LONG, &status));
	n++;
	CHECK(MPI_File_write_at(f, 8 * rank, &n, 1, MPI_LONG, &status));
	long token = 0;
	if (rank > 0)
		CHECK(MPI_Recv(&token, 1, MPI_LONG, rank - 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
	CHECK(MPI_File_read_at(f, 8 * size, &common, 1, MPI_LONG, &status));
	common = common * 31 + rank + token;
	CHECK(MPI_File_write_at(f, 8 * size, &common, 1, MPI_LONG, &status));
	if (rank + 1 < size)
		CHECK(MPI_Send(&common, 1, MPI_LONG, rank + 1, 1, MPI_COMM_WORLD));
	if (n != round + 1)
		fprintf(stderr, "rank %d: %ld in round %d\n", rank, n, round);
	CHECK(MPI_Barrier(MPI_COMM_WORLD));
}

// Interleaved pieces, read and written together.
static void together(MPI_File f, int round) {
	static int data[pieces * 4];
	CHECK(MPI_File_read_at_all(f, 0, data, pieces * 4, MPI_INT, MPI_STATUS_IGNORE));
	for (int i = 0; i < pieces * 4; i++)
		data[i] = data[i] * 5 + rank + i + round;
	MPI_Request request;
	if (round % 2) {
		CHECK(MPI_File_iwrite_at_all(f, 0, data, pieces * 4, MPI_INT, &request));
		CHECK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	} else
		CHECK(MPI_File_write_at_all(f, 0, data, pieces * 4, MPI_INT, MPI_STATUS_IGNORE));
}

// Large runs, of which a death may leave a part.
static void large(MPI_File f, int round) {
	static int data[big];
	MPI_Offset at = (MPI_Offset)sizeof data * rank;
	MPI_Status status;
	int n;
	memset(data, 0, sizeof data);
	CHECK(MPI_File_read_at(f, at, data, big, MPI_INT, &status));
	CHECK(MPI_Get_count(&status, MPI_INT, &n));
	if (n != (round > 0 ? big : 0) && !(round == 0 && n <= big))
		fprintf(stderr, "rank %d: %d integers in round %d\n", rank, n, round);
	for (int i = 0; i < big; i++)
		data[i] = round == 0 ? i ^ rank : data[i] * 3 + 1;
	MPI_Request request;
	CHECK(MPI_Barrier(MPI_COMM_WORLD));
	CHECK(MPI_File_iwrite_at(f, at, data, big, MPI_INT, &request));
	CHECK(MPI_Wait(&request, &status));
	CHECK(MPI_Get_count(&status, MPI_INT, &n));
	if (n != big)
		fprintf(stderr, "rank %d: %d integers written in round %d\n", rank, n, round);
	CHECK(MPI_Barrier(MPI_COMM_WORLD));
}

// A file that comes and goes.
static void passing(const char *dir, int round) {
	char path[4096];
	MPI_File f = opened(dir, "passing", MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | (round % 2 ? MPI_MODE_DELETE_ON_CLOSE : 0));
	MPI_Offset length;
	CHECK(MPI_File_set_size(f, 100 + round));
	CHECK(MPI_File_get_size(f, &length));
	if (length != 100 + round)
		fprintf(stderr, "rank %d: %lld bytes in round %d\n", rank, (long long)length, round);
	CHECK(MPI_File_sync(f));
	CHECK(MPI_File_close(&f));
	CHECK(MPI_Barrier(MPI_COMM_WORLD));
	snprintf(path, sizeof path, "%s/passing", dir);
	if (rank == 0 && round % 2 == 0)
		CHECK(MPI_File_delete(path, MPI_INFO_NULL));
	if (rank == 0 && MPI_File_delete(path, MPI_INFO_NULL) == MPI_SUCCESS)
		fprintf(stderr, "a file was deleted twice\n");
	CHECK(MPI_Barrier(MPI_COMM_WORLD));
}

int main(int argc, char **argv) {
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	const char *dir = argv[1];
	int rounds = atoi(argv[2]);

	MPI_Datatype piece, view;
	CHECK(MPI_Type_contiguous(4, MPI_INT, &piece));
	CHECK(MPI_Type_create_resized(piece, 0, 16 * size, &view));
	CHECK(MPI_Type_commit(&view));

	int both = MPI_MODE_CREATE | MPI_MODE_RDWR;
	MPI_File counters = opened(dir, "counters", both), strided = opened(dir, "strided", both), runs = opened(dir, "runs", both);
	MPI_File ordered = opened(dir, "ordered", both), shared = opened(dir, "shared", both | MPI_MODE_APPEND);
	CHECK(MPI_File_set_view(strided, 4 * 4 * rank, MPI_INT, view, "native", MPI_INFO_NULL));
	long zero = 0;
	CHECK(MPI_File_write_at(counters, 8 * rank, &zero, 1, MPI_LONG, MPI_STATUS_IGNORE));
	if (rank == 0)
		CHECK(MPI_File_write_at(counters, 8 * size, &zero, 1, MPI_LONG, MPI_STATUS_IGNORE));
	CHECK(MPI_Barrier(MPI_COMM_WORLD));
	for (int round = 0; round < rounds; round++) {
		char record[64];
		count(counters, round);
		together(strided, round);
		large(runs, round);
		passing(dir, round);
		snprintf(record, sizeof record, "%03d %08d   \n", rank, round);
		CHECK(MPI_File_write_ordered(ordered, record, 1 + rank % 16, MPI_CHAR, MPI_STATUS_IGNORE));
		CHECK(MPI_File_write_shared(shared, record, 16, MPI_CHAR, MPI_STATUS_IGNORE));
	}
	CHECK(MPI_File_close(&counters));
	CHECK(MPI_File_close(&strided));
	CHECK(MPI_File_close(&runs));
	CHECK(MPI_File_close(&ordered));
	CHECK(MPI_File_close(&shared));
	CHECK(MPI_Type_free(&piece));
	CHECK(MPI_Type_free(&view));
	if (rank == 0)
		printf("done\n");
	MPI_Finalize();
	return 0;
}
