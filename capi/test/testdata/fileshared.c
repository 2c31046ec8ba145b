// Shared pointers, ordered access and atomic mode of MPI's files.
#include "files.h"

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

int main(int argc, char **argv)
{
	const char *dir, *what = begin(argc, argv, &dir);
	(void)what;
	sharing(in(dir, "sharing"));
	atomic(in(dir, "atomic"));
	return END;
}
