/* Attributes of Fortran programs. Values are integers. An attribute that Fortran has set is for C
   a pointer to the integer, as the standard has it: a cell. Callbacks take all arguments by
   reference. */
#include "support.h"

#include <sys/mman.h>

#include "mpi-ext.h"

/* The cells lie in one range of addresses, so that cells are told from pointers that C has set. Pages
   that aren't used take no memory. Free cells are a list; the first word of each is the next one. */
#define CELLS ((size_t)1 << 24)
static struct {
	char busy; /* a lock */
	MPI_Aint *base, *free;
	size_t used;
} cells;

static int is_cell(const void *value)
{
	const MPI_Aint *base = __atomic_load_n(&cells.base, __ATOMIC_ACQUIRE);
	return base != NULL && (uintptr_t)value - (uintptr_t)base < CELLS * sizeof(MPI_Aint);
}

static MPI_Aint *new_cell(MPI_Aint value)
{
	MPI_Aint *cell = NULL;
	while (__atomic_test_and_set(&cells.busy, __ATOMIC_ACQUIRE))
		;
	if (cells.base == NULL) {
		void *p = mmap(NULL, CELLS * sizeof(MPI_Aint), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
		if (p != MAP_FAILED)
			__atomic_store_n(&cells.base, p, __ATOMIC_RELEASE);
	}
	if (cells.free != NULL) {
		cell = cells.free;
		cells.free = (MPI_Aint *)*cell;
	} else if (cells.base != NULL && cells.used < CELLS) {
		cell = &cells.base[cells.used++];
	}
	if (cell != NULL)
		*cell = value;
	__atomic_clear(&cells.busy, __ATOMIC_RELEASE);
	return cell;
}

static void free_cell(MPI_Aint *cell)
{
	while (__atomic_test_and_set(&cells.busy, __ATOMIC_ACQUIRE))
		;
	*cell = (MPI_Aint)cells.free;
	cells.free = cell;
	__atomic_clear(&cells.busy, __ATOMIC_RELEASE);
}

/* number is an attribute for Fortran: what it has set itself, or C's pointer. */
static MPI_Aint number(void *value) { return is_cell(value) ? *(MPI_Aint *)value : (MPI_Aint)value; }

/* C's callbacks get a fortran_keyval as their extra state, and call Fortran's callbacks with it.
   It is never freed, because attributes may live as long as the program. */
struct fortran_keyval {
	void (*copy)(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *extra, MPI_Aint *in, MPI_Aint *out, MPI_Fint *flag, MPI_Fint *ierror);
	void (*erase)(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *value, MPI_Aint *extra, MPI_Fint *ierror);
	MPI_Aint extra;
	int narrow; /* made by MPI_Keyval_create, whose values are default INTEGERs */
};

/* CALLBACKS makes the callbacks in C for one kind of object. */
#define CALLBACKS(type, name)                                                                               \
	static int name##_copy(type object, int keyval, void *state, void *in, void *out, int *flag)        \
	{                                                                                                   \
		struct fortran_keyval *k = state;                                                           \
		MPI_Fint handle = NUMBER(object), id = keyval, error = MPI_SUCCESS;                         \
		MPI_Aint from = number(in), to = 0;                                                         \
		k->copy(&handle, &id, &k->extra, &from, &to, flag, &error);                                 \
		if (k->narrow)                                                                              \
			to = (int)to; /* it wrote 4 bytes */                                           \
		if (error != MPI_SUCCESS || !*flag)                                                         \
			return error;                                                                       \
		void *copied = is_cell(in) ? new_cell(to) : (void *)to;                                     \
		*(void **)out = copied;                                                                     \
		return copied == NULL && is_cell(in) ? MPI_ERR_NO_MEM : MPI_SUCCESS;                        \
	}                                                                                                   \
	static int name##_erase(type object, int keyval, void *value, void *state)                         \
	{                                                                                                   \
		struct fortran_keyval *k = state;                                                           \
		MPI_Fint handle = NUMBER(object), id = keyval, error = MPI_SUCCESS;                         \
		MPI_Aint v = number(value);                                                                 \
		k->erase(&handle, &id, &v, &k->extra, &error);                                              \
		if (error == MPI_SUCCESS && is_cell(value))                                                 \
			free_cell(value);                                                                   \
		return error;                                                                               \
	}

CALLBACKS(MPI_Comm, comm)
CALLBACKS(MPI_Datatype, type)
CALLBACKS(MPI_Win, win)

static struct fortran_keyval *state(void (*copy)(void), void (*erase)(void), MPI_Aint extra, int narrow)
{
	struct fortran_keyval *k = malloc(sizeof *k);
	if (k == NULL)
		abort();
	k->copy = (void (*)(MPI_Fint *, MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Aint *, MPI_Fint *, MPI_Fint *))copy;
	k->erase = (void (*)(MPI_Fint *, MPI_Fint *, MPI_Aint *, MPI_Aint *, MPI_Fint *))erase;
	k->extra = extra;
	k->narrow = narrow;
	return k;
}

/* SET sets an attribute to a cell. One of a key that C has made isn't freed: C may have its
   address. */
#define SET(Name, object, keyval, value)                                         \
	do {                                                                     \
		MPI_Aint *cell = new_cell(value);                                \
		*ierror = MPI_ERR_NO_MEM;                                        \
		if (cell == NULL)                                                \
			return;                                                  \
		*ierror = PMPI_##Name##_set_attr(object, keyval, cell);          \
		if (*ierror != MPI_SUCCESS)                                      \
			free_cell(cell);                                         \
	} while (0)

/* KEYVAL makes the procedures of one kind of object. An attribute that C has set is a pointer.
   Predefined attributes point to a value, and Fortran gets this value. */
#define KEYVAL(type, name, Name, predefined)                                                                         \
	ENTRY_F08(void, mpi_##name##_create_keyval_,                                                                     \
		(void (*copy)(void), void (*erase)(void), MPI_Fint *keyval, MPI_Aint *extra, MPI_Fint *ierror))      \
	{                                                                                                            \
		OPTIONAL(ierror);                                                                                    \
		*ierror = PMPI_##Name##_create_keyval(name##_copy, name##_erase, keyval, state(copy, erase, *extra, 0)); \
	}                                                                                                            \
	ENTRY_F08(void, mpi_##name##_set_attr_, (MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *ierror)) \
	{                                                                                                            \
		OPTIONAL(ierror);                                                                                    \
		SET(Name, HANDLE(type, *object), *keyval, *value);                                                   \
	}                                                                                                            \
	ENTRY_F08(void, mpi_##name##_get_attr_,                                                                          \
		(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *ierror))             \
	{                                                                                                            \
		OPTIONAL(ierror);                                                                                    \
		void *found = NULL;                                                                                  \
		*ierror = PMPI_##Name##_get_attr(HANDLE(type, *object), *keyval, &found, flag);                      \
		if (*ierror == MPI_SUCCESS && *flag)                                                                 \
			*value = predefined(*keyval, found);                                                         \
	}

static int is_predefined(int keyval)
{
	return (keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE) || keyval == MPIX_FT || keyval == MPIX_SPARES;
}

static MPI_Aint of_comm(int keyval, void *found) { return is_predefined(keyval) ? *(int *)found : number(found); }
static MPI_Aint of_type(int keyval, void *found) { (void)keyval; return number(found); }
/* The base of a window is an address, its size an MPI_Aint. */
static MPI_Aint of_win(int keyval, void *found)
{
	if (keyval == MPI_WIN_SIZE)
		return *(MPI_Aint *)found;
	return keyval > MPI_WIN_BASE && keyval <= MPI_WIN_MODEL ? *(int *)found : number(found);
}

KEYVAL(MPI_Comm, comm, Comm, of_comm)
KEYVAL(MPI_Datatype, type, Type, of_type)
KEYVAL(MPI_Win, win, Win, of_win)

/* The procedures of MPI-1, whose values are default INTEGERs. */
ENTRY(void, mpi_keyval_create_, (void (*copy)(void), void (*erase)(void), MPI_Fint *keyval, MPI_Fint *extra, MPI_Fint *ierror))
{
	*ierror = PMPI_Comm_create_keyval(comm_copy, comm_erase, keyval, state(copy, erase, *extra, 1));
}

ENTRY(void, mpi_attr_put_, (MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *ierror))
{
	SET(Comm, HANDLE(MPI_Comm, *comm), *keyval, *value);
}

ENTRY(void, mpi_attr_get_, (MPI_Fint *comm, MPI_Fint *keyval, MPI_Fint *value, MPI_Fint *flag, MPI_Fint *ierror))
{
	void *found = NULL;
	*ierror = PMPI_Comm_get_attr(HANDLE(MPI_Comm, *comm), *keyval, &found, flag);
	if (*ierror == MPI_SUCCESS && *flag)
		*value = (MPI_Fint)of_comm(*keyval, found);
}

/* The predefined callbacks, under all their names. Those of MPI-1 have narrow values. */
#define PREDEFINED(name, value)                                                                                        \
	void mpi_##name##null_copy_fn_(MPI_Fint *object, MPI_Fint *keyval, void *extra, void *in, void *out, MPI_Fint *flag, MPI_Fint *ierror) \
	{                                                                                                              \
		(void)object, (void)keyval, (void)extra, (void)in, (void)out;                                          \
		*flag = 0, *ierror = MPI_SUCCESS;                                                                      \
	}                                                                                                              \
	void mpi_##name##dup_fn_(MPI_Fint *object, MPI_Fint *keyval, void *extra, value *in, value *out, MPI_Fint *flag, MPI_Fint *ierror) \
	{                                                                                                              \
		(void)object, (void)keyval, (void)extra;                                                               \
		*out = *in, *flag = 1, *ierror = MPI_SUCCESS;                                                          \
	}                                                                                                              \
	void mpi_##name##null_delete_fn_(MPI_Fint *object, MPI_Fint *keyval, void *in, void *extra, MPI_Fint *ierror)  \
	{                                                                                                              \
		(void)object, (void)keyval, (void)in, (void)extra;                                                     \
		*ierror = MPI_SUCCESS;                                                                                 \
	}

PREDEFINED(, MPI_Fint)
PREDEFINED(comm_, MPI_Aint)
PREDEFINED(type_, MPI_Aint)
PREDEFINED(win_, MPI_Aint)
