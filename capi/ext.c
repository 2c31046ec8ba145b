// The entry points of mpi-ext.h.

#include "banyan.h"
#include "ext.h"

// Whether the next safe point has anything to do. The first one always has. Go sets it.
static int due = 1;

void banyan_due(int is)
{
	__atomic_store_n(&due, is, __ATOMIC_RELAXED);
}

int PMPIX_State_register(const char *name, void *address, MPI_Count count, MPI_Datatype datatype)
{
	GUARD(MPIX_State_register);
	return RESULT(banyan_StateRegister((char *)name, POINTER(address), count, HANDLE(datatype)));
}
ALIAS(int, MPIX_State_register, (const char *name, void *address, MPI_Count count, MPI_Datatype datatype));

int PMPIX_State_register_function(const char *name, MPIX_State_save_function *save, MPIX_State_load_function *load, void *extra)
{
	GUARD(MPIX_State_register_function);
	return RESULT(banyan_StateRegisterFunction((char *)name, (uintptr_t)save, (uintptr_t)load, (uintptr_t)extra));
}
ALIAS(int, MPIX_State_register_function, (const char *name, MPIX_State_save_function *save, MPIX_State_load_function *load, void *extra));

int PMPIX_State_unregister(const char *name)
{
	GUARD(MPIX_State_unregister);
	return RESULT(banyan_StateUnregister((char *)name));
}
ALIAS(int, MPIX_State_unregister, (const char *name));

int PMPIX_Expect_safepoints(MPI_Count total)
{
	GUARD(MPIX_Expect_safepoints);
	return RESULT(banyan_ExpectSafepoints(total));
}
ALIAS(int, MPIX_Expect_safepoints, (MPI_Count total));

// Most safe points have nothing to do, and then make no call into Go.
int PMPIX_Safepoint(int *restored)
{
	if (restored)
		*restored = 0;
	if (!__atomic_load_n(&due, __ATOMIC_RELAXED))
		return MPI_SUCCESS;
	GUARD(MPIX_Safepoint);
	return RESULT(banyan_Safepoint(restored));
}
ALIAS(int, MPIX_Safepoint, (int *restored));
