// files tests MPI's files. Its first argument is a directory for them, the second names what it does;
// without one it checks all that goes well.
#include <mpi.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

static int rank, size;
static char path[4096];

static const char *in(const char *dir, const char *name)
{
	snprintf(path, sizeof path, "%s/%s", dir, name);
	return path;
}

static MPI_File open_new(const char *name)
{
	MPI_File f;
	if (rank == 0)
		unlink(name);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	return f;
}

static int counted(MPI_Status *s, MPI_Datatype t)
{
	int n;
	OK(MPI_Get_count(s, t, &n));
	return n;
}

// content checks the file's bytes, at rank 0.
static void content(const char *name, const void *want, size_t n)
{
	OK(MPI_Barrier(MPI_COMM_WORLD));
	if (rank == 0) {
		unsigned char *got = malloc(n + 1);
		int fd = open(name, O_RDONLY);
		CHECK(read(fd, got, n + 1) == (ssize_t)n);
		CHECK(memcmp(got, want, n) == 0);
		close(fd);
		free(got);
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
}

static int error_class(int code)
{
	int class;
	OK(MPI_Error_class(code, &class));
	return class;
}
#define FAILS(class, call) CHECK(error_class(call) == class)

// Each rank has a block of its own, by offsets and by pointers, blocking and not.
static void blocks(const char *name)
{
	enum { n = 1000 };
	int mine[n], back[n], *all = malloc(sizeof(int) * n * size);
	MPI_File f = open_new(name);
	MPI_Status s;
	MPI_Request r[2];
	MPI_Offset at, bytes;
	for (int i = 0; i < n * size; i++)
		all[i] = i;
	memcpy(mine, all + n * rank, sizeof mine);
	OK(MPI_File_write_at(f, sizeof mine * (MPI_Offset)rank, mine, n, MPI_INT, &s));
	CHECK(counted(&s, MPI_INT) == n);
	content(name, all, sizeof(int) * n * size);
	OK(MPI_File_get_size(f, &bytes));
	CHECK(bytes == (MPI_Offset)sizeof(int) * n * size);
	OK(MPI_File_read_at(f, sizeof mine * (MPI_Offset)((rank + 1) % size), back, n, MPI_INT, &s));
	CHECK(memcmp(back, all + n * ((rank + 1) % size), sizeof back) == 0);
	// The end of the file is no error.
	OK(MPI_File_read_at(f, sizeof(int) * ((MPI_Offset)n * size - 3), back, n, MPI_INT, &s));
	CHECK(counted(&s, MPI_INT) == 3);
	OK(MPI_File_read_at(f, bytes + 1000, back, n, MPI_INT, &s));
	CHECK(counted(&s, MPI_INT) == 0);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	// Not blocking, in the other order.
	OK(MPI_File_iwrite_at(f, sizeof mine * (MPI_Offset)(size - 1 - rank), mine, n / 2, MPI_INT, &r[0]));
	OK(MPI_File_iwrite_at(f, sizeof mine * (MPI_Offset)(size - 1 - rank) + sizeof mine / 2, mine + n / 2, n / 2, MPI_INT, &r[1]));
	MPI_Status both[2];
	OK(MPI_Waitall(2, r, both));
	CHECK(counted(&both[1], MPI_INT) == n / 2);
	for (int k = 0; k < size; k++)
		for (int i = 0; i < n; i++)
			all[n * (size - 1 - k) + i] = n * k + i;
	content(name, all, sizeof(int) * n * size);
	// By pointers, in etypes of the view.
	OK(MPI_File_set_view(f, sizeof mine * (MPI_Offset)rank, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	OK(MPI_File_seek(f, 5, MPI_SEEK_SET));
	OK(MPI_File_read(f, back, 10, MPI_INT, &s));
	CHECK(counted(&s, MPI_INT) == 10 && memcmp(back, all + n * rank + 5, 40) == 0);
	OK(MPI_File_iread(f, back, 10, MPI_INT, r));
	OK(MPI_File_get_position(f, &at));
	CHECK(at == 25);
	OK(MPI_Wait(r, &s));
	CHECK(counted(&s, MPI_INT) == 10 && memcmp(back, all + n * rank + 15, 40) == 0);
	OK(MPI_File_seek(f, -3, MPI_SEEK_CUR));
	OK(MPI_File_get_position(f, &at));
	CHECK(at == 22);
	OK(MPI_File_seek(f, -1, MPI_SEEK_END));
	OK(MPI_File_get_position(f, &at));
	CHECK(at == (MPI_Offset)n * (size - rank) - 1);
	OK(MPI_File_get_byte_offset(f, 7, &at));
	CHECK(at == (MPI_Offset)sizeof mine * rank + 28);
	FAILS(MPI_ERR_ARG, MPI_File_seek(f, -1, MPI_SEEK_SET));
	OK(MPI_File_close(&f));
	CHECK(f == MPI_FILE_NULL);
	free(all);
}

// The ranks' pieces are interleaved, so aggregators write and read them. Memory has gaps, too.
static void interleaved(const char *name, int enable)
{
	enum { pieces = 3000, length = 3, gap = 2 };
	int *mine = malloc(sizeof(int) * pieces * (length + gap));
	int *back = calloc(pieces * (length + gap), sizeof(int));
	int *all = calloc((size_t)pieces * length * size, sizeof(int));
	MPI_Datatype memory, rows, view;
	MPI_File f = open_new(name);
	MPI_Status s;
	MPI_Request r;
	MPI_Info info = MPI_INFO_NULL;
	if (enable) {
		OK(MPI_Info_create(&info));
		OK(MPI_Info_set(info, "romio_cb_write", "enable"));
		OK(MPI_Info_set(info, "romio_cb_read", "enable"));
		OK(MPI_Info_set(info, "cb_buffer_size", "8192"));
		OK(MPI_Info_set(info, "cb_nodes", "2"));
	}
	for (int i = 0; i < pieces; i++)
		for (int k = 0; k < length; k++) {
			mine[i * (length + gap) + k] = rank * 1000000 + i * length + k;
			for (int q = 0; q < size; q++)
				all[(i * size + q) * length + k] = q * 1000000 + i * length + k;
		}
	OK(MPI_Type_vector(pieces, length, length + gap, MPI_INT, &memory));
	OK(MPI_Type_commit(&memory));
	OK(MPI_Type_vector(pieces, length, length * size, MPI_INT, &rows));
	OK(MPI_Type_create_resized(rows, 0, sizeof(int) * (MPI_Aint)pieces * length * size, &view));
	OK(MPI_Type_commit(&view));
	OK(MPI_Type_free(&rows));
	OK(MPI_File_set_view(f, sizeof(int) * length * rank, MPI_INT, view, "native", info));
	OK(MPI_File_write_at_all(f, 0, mine, 1, memory, &s));
	CHECK(counted(&s, MPI_INT) == pieces * length);
	content(name, all, sizeof(int) * (size_t)pieces * length * size);
	OK(MPI_File_read_all(f, back, 1, memory, &s));
	CHECK(counted(&s, MPI_INT) == pieces * length);
	int mistaken = 0;
	for (int i = 0; i < pieces * (length + gap); i++)
		mistaken += back[i] != (i % (length + gap) < length ? mine[i] : 0);
	CHECK(mistaken == 0);
	// Alone, and behind the end: half of it is there.
	memset(back, 0, sizeof(int) * pieces * (length + gap));
	OK(MPI_File_read_at(f, pieces * length / 2, back, pieces * length, MPI_INT, &s));
	CHECK(counted(&s, MPI_INT) == pieces * length / 2 && back[0] == rank * 1000000 + pieces * length / 2);
	OK(MPI_File_iread_at_all(f, pieces * length / 2, back, pieces * length, MPI_INT, &r));
	OK(MPI_Wait(&r, &s));
	CHECK(counted(&s, MPI_INT) == pieces * length / 2);
	// Split, and not blocking.
	memset(back, 0, sizeof(int) * pieces * (length + gap));
	OK(MPI_File_seek(f, 0, MPI_SEEK_SET));
	OK(MPI_File_read_all_begin(f, back, 1, memory));
	FAILS(MPI_ERR_OTHER, MPI_File_read_all_begin(f, back, 1, memory));
	FAILS(MPI_ERR_OTHER, MPI_File_write_all_end(f, back, &s));
	OK(MPI_File_read_all_end(f, back, &s));
	CHECK(counted(&s, MPI_INT) == pieces * length && back[1] == mine[1]);
	for (int i = 0; i < pieces * (length + gap); i++)
		mine[i]++;
	for (int i = 0; i < pieces * length * size; i++)
		all[i]++;
	OK(MPI_File_iwrite_at_all(f, 0, mine, 1, memory, &r));
	OK(MPI_Wait(&r, &s));
	CHECK(counted(&s, MPI_INT) == pieces * length);
	content(name, all, sizeof(int) * (size_t)pieces * length * size);
	MPI_Datatype etype, filetype;
	MPI_Offset disp;
	char form[MPI_MAX_DATAREP_STRING];
	int combiner, a, b, c;
	OK(MPI_File_get_view(f, &disp, &etype, &filetype, form));
	CHECK(disp == (MPI_Offset)sizeof(int) * length * rank && etype == MPI_INT && strcmp(form, "native") == 0);
	OK(MPI_Type_get_envelope(filetype, &a, &b, &c, &combiner));
	CHECK(combiner == MPI_COMBINER_RESIZED);
	OK(MPI_Type_free(&filetype));
	OK(MPI_File_close(&f));
	OK(MPI_Type_free(&memory));
	OK(MPI_Type_free(&view));
	if (enable)
		OK(MPI_Info_free(&info));
	free(mine);
	free(back);
	free(all);
}

// What nobody writes isn't touched, though an aggregator writes on both sides of it.
static void holes(const char *name)
{
	enum { n = 5000 };
	MPI_File f = open_new(name);
	MPI_Status s;
	MPI_Datatype view;
	char *all = malloc(n * (size + 1)), mine[n];
	memset(all, 'x', n * (size + 1));
	if (rank == 0)
		OK(MPI_File_write_at(f, 0, all, n * (size + 1), MPI_BYTE, &s));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_Type_vector(n, 1, size + 1, MPI_BYTE, &view));
	OK(MPI_Type_commit(&view));
	OK(MPI_File_set_view(f, rank, MPI_BYTE, view, "native", MPI_INFO_NULL));
	memset(mine, 'a' + rank, n);
	OK(MPI_File_write_all(f, mine, n, MPI_BYTE, &s));
	for (int i = 0; i < n; i++)
		for (int q = 0; q < size; q++)
			all[i * (size + 1) + q] = 'a' + q;
	content(name, all, n * (size + 1));
	// A rank without data may have a view without bytes.
	MPI_Datatype none;
	OK(MPI_Type_contiguous(rank ? 0 : 2, MPI_BYTE, &none));
	OK(MPI_Type_commit(&none));
	OK(MPI_File_set_view(f, 3, MPI_BYTE, none, "native", MPI_INFO_NULL));
	OK(MPI_File_write_all(f, "yz", rank ? 0 : 2, MPI_BYTE, &s));
	memcpy(all + 3, "yz", 2);
	content(name, all, n * (size + 1));
	OK(MPI_Type_free(&none));
	OK(MPI_File_close(&f));
	OK(MPI_Type_free(&view));
	free(all);
}

// Each access at the shared pointer has a place of its own; ordered ones follow the ranks.
static void sharing(const char *name)
{
	enum { each = 100 };
	MPI_File f = open_new(name);
	MPI_Status s;
	MPI_Request r;
	MPI_Offset at;
	int one, *all = calloc(each * size, sizeof(int)), *seen = calloc(each * size, sizeof(int));
	OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	for (int i = 0; i < each; i++) {
		one = rank * each + i;
		if (i % 2)
			OK(MPI_File_write_shared(f, &one, 1, MPI_INT, &s));
		else {
			OK(MPI_File_iwrite_shared(f, &one, 1, MPI_INT, &r));
			OK(MPI_Wait(&r, &s));
		}
		CHECK(counted(&s, MPI_INT) == 1);
	}
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_File_get_position_shared(f, &at));
	CHECK(at == each * size);
	OK(MPI_File_read_at_all(f, 0, all, each * size, MPI_INT, &s));
	for (int i = 0; i < each * size; i++)
		if (all[i] >= 0 && all[i] < each * size)
			seen[all[i]]++;
	int mistaken = 0;
	for (int i = 0; i < each * size; i++)
		mistaken += seen[i] != 1;
	CHECK(mistaken == 0);
	OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	int sum = 0;
	for (int i = 0; i < each; i++) {
		OK(MPI_File_read_shared(f, &one, 1, MPI_INT, &s));
		sum += one;
	}
	OK(MPI_Allreduce(MPI_IN_PLACE, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
	CHECK(sum == each * size * (each * size - 1) / 2);
	OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	int *mine = malloc(sizeof(int) * (size + 1)), before = rank * (rank + 1) / 2;
	for (int i = 0; i <= rank; i++)
		mine[i] = before + i;
	OK(MPI_File_write_ordered(f, mine, rank + 1, MPI_INT, &s));
	OK(MPI_File_seek_shared(f, 0, MPI_SEEK_SET));
	memset(mine, 0xff, sizeof(int) * (size + 1));
	OK(MPI_File_read_ordered_begin(f, mine, rank + 1, MPI_INT));
	OK(MPI_File_read_ordered_end(f, mine, &s));
	CHECK(counted(&s, MPI_INT) == rank + 1 && mine[0] == before && mine[rank] == before + rank);
	OK(MPI_File_close(&f));
	free(mine);
	free(all);
	free(seen);
}

// external32 has the standard's bytes, and its own sizes.
static void external(const char *name)
{
	static const unsigned char golden[] = {
		0x01, 0x02, 0x03, 0x04,                         // an int
		0x3f, 0xf8, 0, 0, 0, 0, 0, 0,                   // a double, 1.5
		0xff, 0xff, 0xff, 0xfe,                         // a long, -2: four bytes
		0xc0, 0x20, 0, 0,                               // a float, -2.5
		'A', 0x12, 0x34,                                // a char, a short
		0x40, 0x00, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, // a long double, 3
	};
	struct {
		int i;
		double d;
		long l;
		float f;
		char c;
		short s;
		long double x;
	} v = {0x01020304, 1.5, -2, -2.5, 'A', 0x1234, 3}, w;
	MPI_File f;
	MPI_Status s;
	MPI_Aint extent;
	MPI_Count wide;
	MPI_Datatype t, types[] = {MPI_INT, MPI_DOUBLE, MPI_LONG, MPI_FLOAT, MPI_CHAR, MPI_SHORT, MPI_LONG_DOUBLE};
	int ones[] = {1, 1, 1, 1, 1, 1, 1};
	MPI_Aint at[7];
	void *fields[] = {&v.i, &v.d, &v.l, &v.f, &v.c, &v.s, &v.x};
	for (int i = 0; i < 7; i++)
		at[i] = (char *)fields[i] - (char *)&v;
	OK(MPI_Type_create_struct(7, ones, at, types, &t));
	OK(MPI_Type_commit(&t));
	if (rank == 0)
		unlink(name);
	OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	if (rank == 0) {
		OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
		OK(MPI_File_get_type_extent(f, MPI_LONG, &extent));
		OK(MPI_File_get_type_extent_c(f, MPI_LONG_DOUBLE, &wide));
		CHECK(extent == 4 && wide == 16);
		OK(MPI_File_write_at(f, 0, &v, 1, t, &s));
		CHECK(counted(&s, t) == 1);
		unsigned char got[sizeof golden + 1];
		int fd = open(name, O_RDONLY);
		CHECK(read(fd, got, sizeof got) == sizeof golden && memcmp(got, golden, sizeof golden) == 0);
		close(fd);
		memset(&w, 0, sizeof w);
		OK(MPI_File_read_at(f, 0, &w, 1, t, &s));
		CHECK(counted(&s, t) == 1 && w.i == v.i && w.d == v.d && w.l == v.l && w.f == v.f && w.c == v.c && w.s == v.s && w.x == v.x);
		// What ends in the middle of the type gives the elements that are there.
		OK(MPI_File_set_size(f, 4 + 8 + 4 + 2));
		memset(&w, 0, sizeof w);
		OK(MPI_File_read_at(f, 0, &w, 1, t, &s));
		int elements;
		OK(MPI_Get_elements(&s, t, &elements));
		CHECK(elements == 3 && w.l == -2 && w.f == 0);
	}
	OK(MPI_File_close(&f));
	OK(MPI_Type_free(&t));
	// A view of longs, every second one, has distances of four bytes.
	MPI_Datatype second;
	long two[] = {7, 8}, four[4];
	OK(MPI_Barrier(MPI_COMM_WORLD));
	f = open_new(name);
	OK(MPI_Type_create_resized(MPI_LONG, 0, 8, &t)); // two extents of the file
	OK(MPI_Type_dup(t, &second));
	OK(MPI_Type_commit(&second));
	OK(MPI_File_set_view(f, 4 * rank, MPI_LONG, second, "external32", MPI_INFO_NULL));
	if (rank < 2)
		OK(MPI_File_write_at(f, 0, two, 2, MPI_LONG, &s));
	OK(MPI_File_set_view(f, 0, MPI_LONG, MPI_LONG, "external32", MPI_INFO_NULL));
	OK(MPI_File_sync(f));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_File_read_at_all(f, 0, four, 4, MPI_LONG, &s));
	if (size >= 2)
		CHECK(counted(&s, MPI_LONG) == 4 && four[0] == 7 && four[1] == 7 && four[2] == 8 && four[3] == 8);
	OK(MPI_File_close(&f));
	OK(MPI_Type_free(&t));
	OK(MPI_Type_free(&second));
}

// A representation of the program's: an int has three bytes.
static int extent_of(MPI_Datatype t, MPI_Aint *extent, void *state)
{
	if (t != MPI_INT)
		return MPI_ERR_CONVERSION;
	*extent = 3;
	++*(int *)state;
	return MPI_SUCCESS;
}

static int to_three(void *user, MPI_Datatype t, int count, void *file, MPI_Offset position, void *state)
{
	for (int i = 0; i < count; i++)
		memcpy((char *)file + 3 * i, (char *)user + 4 * (position + i), 3);
	return MPI_SUCCESS;
}

static int from_three(void *user, MPI_Datatype t, int count, void *file, MPI_Offset position, void *state)
{
	for (int i = 0; i < count; i++) {
		((int *)user)[position + i] = 0;
		memcpy((char *)user + 4 * (position + i), (char *)file + 3 * i, 3);
	}
	return MPI_SUCCESS;
}

static void defined(const char *name)
{
	int asked = 0, five[] = {1, 2, 0x123456, 4, 5}, back[5];
	MPI_Request r;
	MPI_Status s;
	OK(MPI_Register_datarep("three", from_three, to_three, extent_of, &asked));
	FAILS(MPI_ERR_DUP_DATAREP, MPI_Register_datarep("three", from_three, to_three, extent_of, &asked));
	FAILS(MPI_ERR_DUP_DATAREP, MPI_Register_datarep("native", from_three, to_three, extent_of, &asked));
	MPI_File f = open_new(name);
	FAILS(MPI_ERR_UNSUPPORTED_DATAREP, MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "four", MPI_INFO_NULL));
	FAILS(MPI_ERR_CONVERSION, MPI_File_set_view(f, 0, MPI_DOUBLE, MPI_DOUBLE, "three", MPI_INFO_NULL));
	OK(MPI_File_set_view(f, 15 * rank, MPI_INT, MPI_INT, "three", MPI_INFO_NULL));
	CHECK(asked > 0);
	OK(MPI_File_write_all(f, five, 5, MPI_INT, &s));
	CHECK(counted(&s, MPI_INT) == 5);
	OK(MPI_File_iread_at(f, 1, back, 4, MPI_INT, &r));
	OK(MPI_Wait(&r, &s));
	CHECK(counted(&s, MPI_INT) == 4 && back[0] == 2 && back[1] == 0x123456 && back[3] == 5);
	MPI_Offset bytes;
	OK(MPI_File_close(&f));
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
	OK(MPI_File_get_size(f, &bytes));
	CHECK(bytes == 15 * size);
	OK(MPI_File_close(&f));
}

// Atomic writes of the same bytes by all leave those of one rank.
static void atomic(const char *name)
{
	enum { n = 1 << 16 };
	MPI_File f = open_new(name);
	MPI_Status s;
	MPI_Datatype view;
	int flag;
	static char mine[n], got[n];
	OK(MPI_File_get_atomicity(f, &flag));
	CHECK(!flag);
	OK(MPI_File_set_atomicity(f, 1));
	OK(MPI_File_get_atomicity(f, &flag));
	CHECK(flag);
	OK(MPI_Type_vector(n, 1, 2, MPI_BYTE, &view));
	OK(MPI_Type_commit(&view));
	OK(MPI_File_set_view(f, 0, MPI_BYTE, view, "native", MPI_INFO_NULL));
	for (int turn = 0; turn < 2; turn++) {
		int length = turn ? n : 2000;
		memset(mine, 1 + rank, n);
		if (turn)
			OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
		OK(MPI_File_write_at_all(f, 0, mine, length, MPI_BYTE, &s));
		OK(MPI_File_read_at(f, 0, got, length, MPI_BYTE, &s));
		int mistaken = 0;
		for (int i = 1; i < length; i++)
			mistaken += got[i] != got[0];
		CHECK(mistaken == 0 && got[0] >= 1 && got[0] <= size);
		OK(MPI_Barrier(MPI_COMM_WORLD));
	}
	OK(MPI_File_close(&f));
	OK(MPI_Type_free(&view));
}

static void sizes(const char *name)
{
	MPI_File f = open_new(name);
	MPI_Offset bytes;
	struct stat st;
	OK(MPI_File_set_size(f, 1000));
	OK(MPI_File_get_size(f, &bytes));
	CHECK(bytes == 1000);
	OK(MPI_File_preallocate(f, 100000));
	OK(MPI_File_get_size(f, &bytes));
	CHECK(bytes == 100000 && stat(name, &st) == 0 && st.st_blocks * 512 >= 100000);
	OK(MPI_File_preallocate(f, 10));
	OK(MPI_File_get_size(f, &bytes));
	CHECK(bytes == 100000);
	FAILS(MPI_ERR_NOT_SAME, MPI_File_set_size(f, size > 1 ? rank : 0) ?: (size > 1 ? MPI_SUCCESS : MPI_ERR_NOT_SAME));
	FAILS(MPI_ERR_ARG, MPI_File_set_size(f, -1));
	// Far beyond what an int counts.
	int x = 42 + rank, y;
	MPI_Offset far = ((MPI_Offset)5 << 32) + 4 * rank;
	MPI_Status s;
	OK(MPI_File_write_at_c(f, far, &x, 1, MPI_INT, &s));
	OK(MPI_File_read_at_c(f, far, &y, 1, MPI_INT, &s));
	CHECK(y == x);
	MPI_Group g, w;
	int same;
	OK(MPI_File_get_group(f, &g));
	OK(MPI_Comm_group(MPI_COMM_WORLD, &w));
	OK(MPI_Group_compare(g, w, &same));
	CHECK(same == MPI_IDENT);
	OK(MPI_Group_free(&g));
	OK(MPI_Group_free(&w));
	OK(MPI_File_close(&f));
}

static void hints(const char *name)
{
	MPI_Info info, used;
	MPI_File f;
	char value[MPI_MAX_INFO_VAL];
	int found, length = sizeof value;
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "cb_buffer_size", rank ? "65536" : "131072")); // rank 0's count
	OK(MPI_Info_set(info, "cb_nodes", "nonsense"));
	OK(MPI_Info_set(info, "file_perm", "640"));
	if (rank == 0)
		unlink(name);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &f));
	struct stat st;
	CHECK(stat(name, &st) == 0 && (st.st_mode & 0777) == 0640);
	OK(MPI_Info_set(info, "collective_buffering", "false"));
	OK(MPI_File_set_info(f, info));
	OK(MPI_File_get_info(f, &used));
	OK(MPI_Info_get_string(used, "cb_buffer_size", &length, value, &found));
	CHECK(found && strcmp(value, "131072") == 0);
	length = sizeof value;
	OK(MPI_Info_get_string(used, "romio_cb_write", &length, value, &found));
	CHECK(found && strcmp(value, "disable") == 0);
	OK(MPI_Info_free(&used));
	OK(MPI_Info_free(&info));
	OK(MPI_File_close(&f));
}

static void modes(const char *name)
{
	MPI_File f;
	MPI_Status s;
	MPI_Offset at;
	char c = 'c';
	int amode;
	f = open_new(name);
	if (rank == 0)
		OK(MPI_File_write_at(f, 0, "0123456789", 10, MPI_CHAR, &s));
	OK(MPI_File_close(&f));
	FAILS(MPI_ERR_AMODE, MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &f));
	FAILS(MPI_ERR_AMODE, MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE, MPI_INFO_NULL, &f));
	FAILS(MPI_ERR_AMODE, MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &f));
	FAILS(MPI_ERR_FILE_EXISTS, MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL, &f));
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL, &f));
	OK(MPI_File_get_position(f, &at));
	CHECK(at == 10);
	OK(MPI_File_get_position_shared(f, &at));
	CHECK(at == 10);
	OK(MPI_File_get_amode(f, &amode));
	CHECK(amode == (MPI_MODE_WRONLY | MPI_MODE_APPEND));
	FAILS(MPI_ERR_ACCESS, MPI_File_read(f, &c, 1, MPI_CHAR, &s));
	OK(MPI_File_close(&f));
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &f));
	FAILS(MPI_ERR_UNSUPPORTED_OPERATION, MPI_File_read(f, &c, 1, MPI_CHAR, &s));
	OK(MPI_File_read_ordered(f, &c, 1, MPI_CHAR, &s));
	CHECK(c == (rank < 10 ? '0' + rank : c));
	OK(MPI_File_set_view(f, MPI_DISPLACEMENT_CURRENT, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL));
	OK(MPI_File_get_byte_offset(f, 0, &at));
	CHECK(at == size);
	OK(MPI_File_close(&f));
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_RDONLY | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL, &f));
	FAILS(MPI_ERR_READ_ONLY, MPI_File_write_at_all(f, 0, &c, 1, MPI_CHAR, &s));
	OK(MPI_File_close(&f));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	CHECK(access(name, F_OK) != 0);
}

static int heard, about;

static void handler(MPI_File *f, int *code, ...)
{
	heard++;
	about = *f == MPI_FILE_NULL;
}

// Errors have the standard's classes, return by default, and a wrong argument of one rank doesn't
// hang the others.
static void mistakes(const char *name)
{
	MPI_File f, gone;
	MPI_Status s;
	MPI_Errhandler h, was;
	char c = 'c';
	char *none = malloc(strlen(name) + 16);
	sprintf(none, "%s/none", name);
	FAILS(MPI_ERR_BAD_FILE, MPI_File_open(MPI_COMM_WORLD, "", MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
	sprintf(none, "%s-none", name);
	FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_open(MPI_COMM_WORLD, none, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
	FAILS(MPI_ERR_NO_SUCH_FILE, MPI_File_delete(none, MPI_INFO_NULL));
	CHECK(f == MPI_FILE_NULL);
	free(none);
	FAILS(MPI_ERR_FILE, MPI_File_read(MPI_FILE_NULL, &c, 1, MPI_CHAR, &s));
	OK(MPI_File_create_errhandler(handler, &h));
	OK(MPI_File_get_errhandler(MPI_FILE_NULL, &was));
	CHECK(was == MPI_ERRORS_RETURN);
	OK(MPI_File_set_errhandler(MPI_FILE_NULL, h));
	FAILS(MPI_ERR_COMM, MPI_File_open(MPI_COMM_NULL, name, MPI_MODE_RDONLY, MPI_INFO_NULL, &f));
	CHECK(heard == 1 && about == 1);
	f = open_new(name); // with the handler of MPI_FILE_NULL
	OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
	FAILS(MPI_ERR_ARG, MPI_File_write_at(f, -1, &c, 1, MPI_CHAR, &s));
	FAILS(MPI_ERR_COUNT, MPI_File_write_at(f, 0, &c, -1, MPI_CHAR, &s));
	FAILS(MPI_ERR_TYPE, MPI_File_write_at(f, 0, &c, 1, MPI_DATATYPE_NULL, &s));
	CHECK(heard == 4 && about == 0);
	OK(MPI_File_call_errhandler(f, MPI_ERR_IO));
	CHECK(heard == 5);
	OK(MPI_File_set_errhandler(f, MPI_ERRORS_RETURN));
	OK(MPI_Errhandler_free(&h));
	// Rank 0 alone is wrong.
	int code = MPI_File_write_at_all(f, rank == 0 ? -1 : rank, &c, 1, MPI_CHAR, &s);
	CHECK(error_class(code) == (rank == 0 ? MPI_ERR_ARG : MPI_SUCCESS));
	code = MPI_File_set_view(f, rank == 0 ? -2 : 0, MPI_CHAR, MPI_CHAR, "native", MPI_INFO_NULL);
	CHECK(error_class(code) == (rank == 0 ? MPI_ERR_DISP : MPI_ERR_OTHER));
	if (size > 1) {
		code = MPI_File_set_view(f, 0, rank ? MPI_CHAR : MPI_INT, rank ? MPI_CHAR : MPI_INT, "native", MPI_INFO_NULL);
		CHECK(error_class(code) == MPI_ERR_NOT_SAME);
		code = MPI_File_open(MPI_COMM_WORLD, name, rank ? MPI_MODE_RDONLY : MPI_MODE_RDWR, MPI_INFO_NULL, &gone);
		CHECK(error_class(code) == MPI_ERR_NOT_SAME);
	}
	OK(MPI_File_set_view(f, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
	FAILS(MPI_ERR_ARG, MPI_File_write(f, &c, 1, MPI_CHAR, &s));
	gone = f;
	OK(MPI_File_close(&f));
	FAILS(MPI_ERR_FILE, MPI_File_write(gone, &c, 1, MPI_CHAR, &s));
	OK(MPI_Barrier(MPI_COMM_WORLD));
	if (rank == 0)
		OK(MPI_File_delete(name, MPI_INFO_NULL));
}

// A disk that is slow, or full: a pipe can't be opened, and /dev/full fails with MPI_ERR_NO_SPACE.
static void full(void)
{
	MPI_File f;
	MPI_Status s;
	MPI_Request r;
	char c[64] = "";
	OK(MPI_File_open(MPI_COMM_WORLD, "/dev/full", MPI_MODE_WRONLY, MPI_INFO_NULL, &f));
	FAILS(MPI_ERR_NO_SPACE, MPI_File_write_at(f, 0, c, 1, MPI_CHAR, &s));
	FAILS(MPI_ERR_NO_SPACE, MPI_File_write_at_all(f, 0, c, 64, MPI_CHAR, &s)); // overlapping: by an aggregator
	OK(MPI_File_iwrite_at(f, 0, c, 1, MPI_CHAR, &r));
	FAILS(MPI_ERR_NO_SPACE, MPI_Wait(&r, &s));
	OK(MPI_File_close(&f));
}

// More data than an int counts, in one call: a count of a large type.
static void large(const char *name)
{
	const MPI_Count n = ((MPI_Count)1 << 31) + 5;
	char *data = malloc(n), *back = calloc(n, 1);
	MPI_Status s;
	MPI_Count got;
	MPI_File f = open_new(name);
	for (MPI_Count i = 0; i < n; i += 4096)
		data[i] = (char)(i >> 12);
	data[n - 1] = 'z';
	OK(MPI_File_write_at_all_c(f, n * rank, data, n, MPI_BYTE, &s));
	OK(MPI_Get_count_c(&s, MPI_BYTE, &got));
	CHECK(got == n);
	OK(MPI_File_read_at_c(f, n * rank, back, n, MPI_BYTE, &s));
	OK(MPI_Get_count_c(&s, MPI_BYTE, &got));
	CHECK(got == n && memcmp(data, back, n) == 0);
	OK(MPI_File_close(&f));
	if (rank == 0)
		OK(MPI_File_delete(name, MPI_INFO_NULL));
	free(data);
	free(back);
}

int main(int argc, char **argv)
{
	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &size);
	const char *dir = argc > 1 ? argv[1] : ".", *what = argc > 2 ? argv[2] : "";
	if (strcmp(what, "large") == 0) {
		large(in(dir, "large"));
		return END;
	}
	if (strcmp(what, "open") == 0) {
		MPI_File f;
		int code = MPI_File_open(MPI_COMM_WORLD, in(dir, "open"), MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f);
		printf("open returned %d\n", code);
		return END;
	}
	if (strcmp(what, "fatal") == 0) {
		MPI_File f = open_new(in(dir, "fatal"));
		OK(MPI_File_set_errhandler(f, MPI_ERRORS_ARE_FATAL));
		MPI_File_seek(f, -7, MPI_SEEK_SET);
		return END;
	}
	blocks(in(dir, "blocks"));
	interleaved(in(dir, "interleaved"), 0);
	interleaved(in(dir, "interleaved"), 1);
	holes(in(dir, "holes"));
	sharing(in(dir, "sharing"));
	external(in(dir, "external"));
	defined(in(dir, "defined"));
	atomic(in(dir, "atomic"));
	sizes(in(dir, "sizes"));
	hints(in(dir, "hints"));
	modes(in(dir, "modes"));
	mistakes(in(dir, "mistakes"));
	full();
	return END;
}
