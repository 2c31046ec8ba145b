// How MPI's files are opened, their sizes and hints, and wrong arguments.
#include "files.h"

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
	CHECK(bytes == 100000 && (replicas || (stat(name, &st) == 0 && st.st_blocks * 512 >= 100000)));
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
		gone(name);
	OK(MPI_Barrier(MPI_COMM_WORLD));
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_WRONLY, info, &f));
	struct stat st;
	CHECK(replicas || (stat(name, &st) == 0 && (st.st_mode & 0777) == 0640));
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
	CHECK(replicas || access(name, F_OK) != 0);
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
	OK(MPI_File_open(MPI_COMM_WORLD, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &f)); // with the handler of MPI_FILE_NULL
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

int main(int argc, char **argv)
{
	const char *dir, *what = begin(argc, argv, &dir);
	if (strcmp(what, "fatal") == 0) {
		MPI_File f = open_new(in(dir, "fatal"));
		OK(MPI_File_set_errhandler(f, MPI_ERRORS_ARE_FATAL));
		MPI_File_seek(f, -7, MPI_SEEK_SET);
		return END;
	}
	sizes(in(dir, "sizes"));
	hints(in(dir, "hints"));
	modes(in(dir, "modes"));
	mistakes(in(dir, "mistakes"));
	return END;
}
