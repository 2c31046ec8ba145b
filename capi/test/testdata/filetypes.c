// Data representations of MPI's files.
#include "files.h"

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
		gone(name);
	OK(MPI_File_open(MPI_COMM_SELF, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f));
	if (rank == 0) {
		OK(MPI_File_set_view(f, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL));
		OK(MPI_File_get_type_extent(f, MPI_LONG, &extent));
		OK(MPI_File_get_type_extent_c(f, MPI_LONG_DOUBLE, &wide));
		CHECK(extent == 4 && wide == 16);
		OK(MPI_File_write_at(f, 0, &v, 1, t, &s));
		CHECK(counted(&s, t) == 1);
		unsigned char got[sizeof golden + 1];
		CHECK(bytes_of(name, got, sizeof got) == sizeof golden && memcmp(got, golden, sizeof golden) == 0);
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

int main(int argc, char **argv)
{
	const char *dir, *what = begin(argc, argv, &dir);
	(void)what;
	external(in(dir, "external"));
	defined(in(dir, "defined"));
	return END;
}
