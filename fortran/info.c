/* Info objects of Fortran programs: values that aren't there leave the program's strings alone, and
   lengths don't count C's null. */
#include "support.h"

ENTRY_F08(void, mpi_info_get_,
	(MPI_Fint *info, char *key, MPI_Fint *valuelen, char *value, MPI_Fint *flag, MPI_Fint *ierror, size_t l_key, size_t l_value))
{
	OPTIONAL(ierror);
	char *c_key = banyan_string(key, l_key);
	char c_value[MPI_MAX_INFO_VAL] = "";
	int found = 0;
	*ierror = PMPI_Info_get(HANDLE(MPI_Info, *info), c_key, *valuelen, c_value, &found);
	free(c_key);
	if (*ierror != MPI_SUCCESS)
		return;
	*flag = found;
	if (found)
		banyan_blank(value, l_value, c_value);
}

ENTRY_F08(void, mpi_info_get_string_,
	(MPI_Fint *info, char *key, MPI_Fint *buflen, char *value, MPI_Fint *flag, MPI_Fint *ierror, size_t l_key, size_t l_value))
{
	OPTIONAL(ierror);
	char *c_key = banyan_string(key, l_key);
	char c_value[MPI_MAX_INFO_VAL] = "";
	int found = 0, room = *buflen, length = 0;
	if (room > 0)
		length = room < MPI_MAX_INFO_VAL ? room + 1 : MPI_MAX_INFO_VAL;
	*ierror = PMPI_Info_get_string(HANDLE(MPI_Info, *info), c_key, &length, c_value, &found);
	free(c_key);
	if (*ierror != MPI_SUCCESS)
		return;
	*flag = found;
	if (!found)
		return;
	*buflen = length - 1;
	if (room > 0)
		banyan_blank(value, l_value, c_value);
}

/* The runtime knows the command line itself. */
ENTRY_F08(void, mpi_info_create_env_, (MPI_Fint *info, MPI_Fint *ierror))
{
	OPTIONAL(ierror);
	MPI_Info c_info = MPI_INFO_NULL;
	*ierror = PMPI_Info_create_env(0, NULL, &c_info);
	*info = NUMBER(c_info);
}
