// Access to MPI's files at offsets and by pointers of each rank, alone and together.
#include "files.h"

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
	const char *dir, *what = begin(argc, argv, &dir);
	if (strcmp(what, "large") == 0) {
		large(in(dir, "large"));
		return END;
	}
	blocks(in(dir, "blocks"));
	interleaved(in(dir, "interleaved"), 0);
	interleaved(in(dir, "interleaved"), 1);
	holes(in(dir, "holes"));
	full();
	return END;
}
