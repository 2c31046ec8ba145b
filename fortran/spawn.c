/* Spawning from Fortran: arguments are arrays of strings of one length, which end at a blank one. */
#include "support.h"

extern MPI_Fint banyan_mpi_errcodes_ignore_[1];
extern char banyan_mpi_argv_null_[1], banyan_mpi_argvs_null_[1];

/* Blanks at both ends of strings don't count: so a blank one is an empty C string. */
static char **words(const char *list, size_t length, size_t step)
{
	size_t n = 0, room = 8;
	char **all = malloc(room * sizeof *all);
	for (;; n++) {
		if (all != NULL && n == room)
			all = realloc(all, (room *= 2) * sizeof *all);
		if (all == NULL)
			abort();
		all[n] = banyan_string(list + n * step, length);
		if (all[n][0] == 0)
			break;
	}
	free(all[n]);
	all[n] = NULL;
	return all;
}

static void release(char **all)
{
	if (all == NULL)
		return;
	for (char **s = all; *s != NULL; s++)
		free(*s);
	free(all);
}

static int *errcodes(MPI_Fint *codes) { return codes == banyan_mpi_errcodes_ignore_ ? MPI_ERRCODES_IGNORE : codes; }

ENTRY_F08(void, mpi_comm_spawn_,
	(char *command, char *argv, MPI_Fint *maxprocs, MPI_Fint *info, MPI_Fint *root, MPI_Fint *comm, MPI_Fint *intercomm,
		MPI_Fint *array_of_errcodes, MPI_Fint *ierror, size_t l_command, size_t l_argv))
{
	OPTIONAL(ierror);
	char *c_command = NULL, **c_argv = MPI_ARGV_NULL;
	int self = -1;
	MPI_Comm c_intercomm = MPI_COMM_NULL;
	/* Elsewhere than at the root there may be no strings. */
	if (PMPI_Comm_rank(HANDLE(MPI_Comm, *comm), &self) == MPI_SUCCESS && self == *root) {
		c_command = banyan_string(command, l_command);
		if (argv != banyan_mpi_argv_null_)
			c_argv = words(argv, l_argv, l_argv);
	}
	*ierror = PMPI_Comm_spawn(c_command, c_argv, *maxprocs, HANDLE(MPI_Info, *info), *root, HANDLE(MPI_Comm, *comm), &c_intercomm,
		errcodes(array_of_errcodes));
	*intercomm = NUMBER(c_intercomm);
	free(c_command);
	release(c_argv);
}

ENTRY_F08(void, mpi_comm_spawn_multiple_,
	(MPI_Fint *count, char *array_of_commands, char *array_of_argv, MPI_Fint *array_of_maxprocs, MPI_Fint *array_of_info, MPI_Fint *root,
		MPI_Fint *comm, MPI_Fint *intercomm, MPI_Fint *array_of_errcodes, MPI_Fint *ierror, size_t l_commands, size_t l_argv))
{
	OPTIONAL(ierror);
	int n = 0, self = -1;
	char **commands = NULL, ***argvs = MPI_ARGVS_NULL;
	MPI_Info *infos = NULL;
	MPI_Comm c_intercomm = MPI_COMM_NULL;
	if (PMPI_Comm_rank(HANDLE(MPI_Comm, *comm), &self) == MPI_SUCCESS && self == *root && *count > 0) {
		n = *count;
		commands = calloc(n, sizeof *commands);
		infos = banyan_handles(n, array_of_info);
		if (array_of_argv != banyan_mpi_argvs_null_)
			argvs = calloc(n, sizeof *argvs);
		if (commands == NULL || (argvs == NULL && array_of_argv != banyan_mpi_argvs_null_))
			abort();
		for (int i = 0; i < n; i++) {
			commands[i] = banyan_string(array_of_commands + i * l_commands, l_commands);
			if (argvs != NULL) /* element (i, j) of an array of n rows */
				argvs[i] = words(array_of_argv + i * l_argv, l_argv, n * l_argv);
		}
	}
	*ierror = PMPI_Comm_spawn_multiple(*count, commands, argvs, array_of_maxprocs, infos, *root, HANDLE(MPI_Comm, *comm), &c_intercomm,
		errcodes(array_of_errcodes));
	*intercomm = NUMBER(c_intercomm);
	for (int i = 0; i < n; i++) {
		free(commands[i]);
		if (argvs != NULL)
			release(argvs[i]);
	}
	free(commands);
	free(argvs);
	if (infos != NULL)
		banyan_numbers(n, infos, NULL);
}
