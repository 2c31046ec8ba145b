/* Attributes of Fortran programs. Values are integers, and are stored where C stores pointers.
   Callbacks take all arguments by reference. */
#include "support.h"

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
		MPI_Fint number = NUMBER(object), id = keyval, error = MPI_SUCCESS;                         \
		MPI_Aint from = (MPI_Aint)in, to = 0;                                                       \
		k->copy(&number, &id, &k->extra, &from, &to, flag, &error);                                 \
		if (k->narrow)                                                                              \
			to = (int)to; /* it wrote 4 bytes */                                           \
		*(void **)out = (void *)to;                                                                 \
		return error;                                                                               \
	}                                                                                                   \
	static int name##_erase(type object, int keyval, void *value, void *state)                         \
	{                                                                                                   \
		struct fortran_keyval *k = state;                                                           \
		MPI_Fint number = NUMBER(object), id = keyval, error = MPI_SUCCESS;                         \
		MPI_Aint v = (MPI_Aint)value;                                                               \
		k->erase(&number, &id, &v, &k->extra, &error);                                              \
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

/* KEYVAL makes the procedures of one kind of object. An attribute that C has set is a pointer.
   Predefined attributes point to a value, and Fortran gets this value. */
#define KEYVAL(type, name, Name, predefined)                                                                         \
	ENTRY(void, mpi_##name##_create_keyval_,                                                                     \
		(void (*copy)(void), void (*erase)(void), MPI_Fint *keyval, MPI_Aint *extra, MPI_Fint *ierror))      \
	{                                                                                                            \
		*ierror = PMPI_##Name##_create_keyval(name##_copy, name##_erase, keyval, state(copy, erase, *extra, 0)); \
	}                                                                                                            \
	ENTRY(void, mpi_##name##_set_attr_, (MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *ierror)) \
	{                                                                                                            \
		*ierror = PMPI_##Name##_set_attr(HANDLE(type, *object), *keyval, (void *)*value);                    \
	}                                                                                                            \
	ENTRY(void, mpi_##name##_get_attr_,                                                                          \
		(MPI_Fint *object, MPI_Fint *keyval, MPI_Aint *value, MPI_Fint *flag, MPI_Fint *ierror))             \
	{                                                                                                            \
		void *found = NULL;                                                                                  \
		*ierror = PMPI_##Name##_get_attr(HANDLE(type, *object), *keyval, &found, flag);                      \
		if (*ierror == MPI_SUCCESS && *flag)                                                                 \
			*value = predefined(*keyval, found);                                                         \
	}

static int is_predefined(int keyval) { return keyval >= MPI_TAG_UB && keyval <= MPI_UNIVERSE_SIZE; }

static MPI_Aint of_comm(int keyval, void *found) { return is_predefined(keyval) ? *(int *)found : (MPI_Aint)found; }
static MPI_Aint of_type(int keyval, void *found) { (void)keyval; return (MPI_Aint)found; }
/* The base of a window is an address, its size an MPI_Aint. */
static MPI_Aint of_win(int keyval, void *found)
{
	if (keyval == MPI_WIN_SIZE)
		return *(MPI_Aint *)found;
	return keyval > MPI_WIN_BASE && keyval <= MPI_WIN_MODEL ? *(int *)found : (MPI_Aint)found;
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
	*ierror = PMPI_Comm_set_attr(HANDLE(MPI_Comm, *comm), *keyval, (void *)(MPI_Aint)*value);
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
