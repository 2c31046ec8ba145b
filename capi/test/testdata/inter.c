// inter connects two groups of ranks, as C programs do. With the argument "loop" it repeats
// everything often enough for ranks to be killed meanwhile, and says at the end what it has
// computed.
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "inter.h"

// world_of is the rank in the world of a rank of the other group.
static int world_of(int r) { return first ? low + r : r; }

#include "intercoll.h"

static void groups(void)
{
	int flag, n, result;
	MPI_Group mine, theirs, world;
	int ranks[MOST], translated[MOST];
	OK(MPI_Comm_test_inter(inter, &flag));
	CHECK(flag);
	OK(MPI_Comm_test_inter(group, &flag));
	CHECK(!flag);
	OK(MPI_Comm_size(inter, &n));
	CHECK(n == local);
	OK(MPI_Comm_rank(inter, &n));
	CHECK(n == here);
	OK(MPI_Comm_remote_size(inter, &n));
	CHECK(n == remote);
	OK(MPI_Comm_group(inter, &mine));
	OK(MPI_Comm_remote_group(inter, &theirs));
	OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
	OK(MPI_Group_size(mine, &n));
	CHECK(n == local);
	OK(MPI_Group_size(theirs, &n));
	CHECK(n == remote);
	for (int i = 0; i < n; i++)
		ranks[i] = i;
	OK(MPI_Group_translate_ranks(theirs, n, ranks, world, translated));
	for (int i = 0; i < n; i++)
		CHECK(translated[i] == world_of(i));
	OK(MPI_Topo_test(inter, &n));
	CHECK(n == MPI_UNDEFINED);

	MPI_Comm dup, idup, swapped, intra;
	MPI_Request request;
	OK(MPI_Comm_dup(inter, &dup));
	OK(MPI_Comm_idup(inter, &idup, &request));
	OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
	OK(MPI_Comm_split(inter, 0, -rank, &swapped));
	OK(MPI_Comm_compare(inter, inter, &result));
	CHECK(result == MPI_IDENT);
	OK(MPI_Comm_compare(inter, dup, &result));
	CHECK(result == MPI_CONGRUENT);
	OK(MPI_Comm_compare(dup, idup, &result));
	CHECK(result == MPI_CONGRUENT);
	OK(MPI_Comm_compare(inter, swapped, &result));
	CHECK(result == (size == 2 ? MPI_CONGRUENT : MPI_SIMILAR));
	OK(MPI_Comm_compare(inter, group, &result));
	CHECK(result == MPI_UNEQUAL);
	// A rank without a partner of its colour has no communicator.
	OK(MPI_Comm_split(inter, here ? MPI_UNDEFINED : 4, 0, &intra));
	CHECK((intra == MPI_COMM_NULL) == (here != 0));
	if (intra != MPI_COMM_NULL) {
		OK(MPI_Comm_remote_size(intra, &n));
		CHECK(n == 1);
		OK(MPI_Comm_disconnect(&intra));
	}
	OK(MPI_Comm_split(inter, first, 0, &intra));
	CHECK(intra == MPI_COMM_NULL);
	// The last ranks of each group, backwards.
	int wanted = local > 1 ? 2 : 1, last[2] = {local - 1, local - 2};
	MPI_Group some;
	OK(MPI_Group_incl(mine, wanted, last, &some));
	OK(MPI_Comm_create(inter, some, &intra));
	CHECK((intra != MPI_COMM_NULL) == (here >= local - 2));
	if (intra != MPI_COMM_NULL) {
		OK(MPI_Comm_rank(intra, &n));
		CHECK(n == local - 1 - here);
		OK(MPI_Comm_remote_size(intra, &n));
		CHECK(n == (remote > 1 ? 2 : 1));
		OK(MPI_Comm_free(&intra));
		CHECK(intra == MPI_COMM_NULL);
	}
	OK(MPI_Comm_create(inter, first ? some : MPI_GROUP_EMPTY, &intra));
	CHECK(intra == MPI_COMM_NULL);

	for (int second = 0; second < 2; second++) {
		OK(MPI_Intercomm_merge(dup, first == second, &intra));
		OK(MPI_Comm_size(intra, &n));
		CHECK(n == size);
		OK(MPI_Comm_rank(intra, &n));
		CHECK(n == (first == second ? remote : 0) + here);
		OK(MPI_Comm_free(&intra));
	}
	OK(MPI_Comm_free(&dup));
	OK(MPI_Comm_free(&idup));
	OK(MPI_Comm_free(&swapped));
	OK(MPI_Group_free(&mine));
	OK(MPI_Group_free(&theirs));
	OK(MPI_Group_free(&some));
	OK(MPI_Group_free(&world));
}

static int copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
	*(intptr_t *)out = (intptr_t)in + 1;
	*flag = 1;
	return MPI_SUCCESS;
}

static int handled;

static void handler(MPI_Comm *comm, int *error, ...)
{
	CHECK(*comm == inter);
	handled = *error;
}

static void attributes(void)
{
	int key, flag, length;
	char name[MPI_MAX_OBJECT_NAME], value[8];
	intptr_t word;
	MPI_Comm dup;
	MPI_Info info;
	MPI_Errhandler old, made;
	OK(MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &key, NULL));
	OK(MPI_Comm_set_attr(inter, key, (void *)(intptr_t)(10 + rank)));
	OK(MPI_Comm_set_name(inter, "between"));
	OK(MPI_Info_create(&info));
	OK(MPI_Info_set(info, "key", "value"));
	OK(MPI_Comm_set_info(inter, info));
	OK(MPI_Info_free(&info));
	OK(MPI_Comm_dup(inter, &dup));
	OK(MPI_Comm_get_attr(dup, key, &word, &flag));
	CHECK(flag && word == 11 + rank);
	OK(MPI_Comm_get_name(inter, name, &length));
	CHECK(!strcmp(name, "between"));
	OK(MPI_Comm_get_info(dup, &info));
	length = sizeof value;
	OK(MPI_Info_get_string(info, "key", &length, value, &flag));
	CHECK(flag && !strcmp(value, "value"));
	OK(MPI_Info_free(&info));
	OK(MPI_Comm_free(&dup));
	OK(MPI_Comm_delete_attr(inter, key));
	OK(MPI_Comm_free_keyval(&key));

	OK(MPI_Comm_get_errhandler(inter, &old));
	OK(MPI_Comm_create_errhandler(handler, &made));
	OK(MPI_Comm_set_errhandler(inter, made));
	CHECK(code(inter, MPI_Send(NULL, 0, MPI_INT, remote, 0, inter)) == MPI_ERR_RANK);
	CHECK(handled == MPI_ERR_RANK);
	OK(MPI_Comm_set_errhandler(inter, old));
	OK(MPI_Errhandler_free(&made));
	OK(MPI_Errhandler_free(&old));
}

// messages: a rank is one of the other group, in sends, receives, probes and statuses.
static void messages(void)
{
	int in, count, flag;
	MPI_Status status;
	MPI_Message message;
	MPI_Request requests[2 * MOST];
	int out[MOST], got[MOST];
	for (int r = 0; r < remote; r++) {
		out[r] = 100 * rank + world_of(r);
		OK(MPI_Irecv(&got[r], 1, MPI_INT, r, 7, inter, &requests[r]));
	}
	for (int r = 0; r < remote; r++)
		OK(MPI_Isend(&out[r], 1, MPI_INT, r, 7, inter, &requests[remote + r]));
	OK(MPI_Waitall(2 * remote, requests, MPI_STATUSES_IGNORE));
	for (int r = 0; r < remote; r++)
		CHECK(got[r] == 100 * world_of(r) + rank);

	int pairs = local < remote ? local : remote;
	if (here < pairs) { // with the rank of the same number
		OK(MPI_Sendrecv(&rank, 1, MPI_INT, here, 1, &in, 1, MPI_INT, here, 1, inter, &status));
		CHECK(in == world_of(here) && status.MPI_SOURCE == here && status.MPI_TAG == 1);
		in = rank;
		OK(MPI_Sendrecv_replace(&in, 1, MPI_INT, here, 2, here, 2, inter, &status));
		CHECK(in == world_of(here));
		if (first) {
			OK(MPI_Send(&rank, 1, MPI_INT, here, 3, inter));
			OK(MPI_Ssend(&rank, 1, MPI_INT, here, 4, inter));
			OK(MPI_Send(&rank, 1, MPI_INT, here, 5, inter));
			OK(MPI_Send(&rank, 1, MPI_INT, here, 6, inter));
		} else {
			OK(MPI_Probe(here, 3, inter, &status));
			OK(MPI_Get_count(&status, MPI_INT, &count));
			CHECK(count == 1 && status.MPI_SOURCE == here);
			OK(MPI_Recv(&in, 1, MPI_INT, MPI_ANY_SOURCE, 3, inter, &status));
			CHECK(in == here && status.MPI_SOURCE == here);
			OK(MPI_Recv(&in, 1, MPI_INT, here, MPI_ANY_TAG, inter, &status));
			CHECK(in == here && status.MPI_TAG == 4);
			OK(MPI_Mprobe(here, 5, inter, &message, &status));
			OK(MPI_Mrecv(&in, 1, MPI_INT, &message, &status));
			CHECK(in == here && status.MPI_SOURCE == here);
			do
				OK(MPI_Iprobe(here, 6, inter, &flag, &status));
			while (!flag);
			OK(MPI_Recv(&in, 1, MPI_INT, status.MPI_SOURCE, 6, inter, MPI_STATUS_IGNORE));
		}
		MPI_Request ends[2];
		OK(MPI_Send_init(&rank, 1, MPI_INT, here, 8, inter, &ends[0]));
		OK(MPI_Recv_init(&in, 1, MPI_INT, here, 8, inter, &ends[1]));
		for (int i = 0; i < 2; i++) {
			in = -1;
			OK(MPI_Startall(2, ends));
			OK(MPI_Waitall(2, ends, MPI_STATUSES_IGNORE));
			CHECK(in == world_of(here));
		}
		OK(MPI_Request_free(&ends[0]));
		OK(MPI_Request_free(&ends[1]));
	}
	OK(MPI_Send(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, inter));
	OK(MPI_Recv(NULL, 0, MPI_INT, MPI_PROC_NULL, 0, inter, &status));
	CHECK(status.MPI_SOURCE == MPI_PROC_NULL);
}

// without_parents makes communicators of groups alone.
static void without_parents(void)
{
	int n, result;
	MPI_Comm made, between;
	MPI_Group mine, theirs;
	OK(MPI_Comm_group(inter, &mine));
	OK(MPI_Comm_remote_group(inter, &theirs));
	OK(MPI_Comm_create_from_group(mine, "part", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
	OK(MPI_Comm_compare(made, group, &result));
	CHECK(result == MPI_CONGRUENT);
	OK(MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_SUM, made));
	CHECK(code(made, MPI_Send(NULL, 0, MPI_INT, local, 0, made)) == MPI_ERR_RANK);
	OK(MPI_Comm_free(&made));
	for (int i = 0; i < 2; i++) { // the leader alone knows the other group
		OK(MPI_Intercomm_create_from_groups(mine, local - 1, here == local - 1 ? theirs : MPI_GROUP_NULL, remote - 1,
						    here == local - 1 ? "both" : NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN, &between));
		OK(MPI_Comm_compare(between, inter, &result));
		CHECK(result == MPI_CONGRUENT);
		OK(MPI_Allreduce(&rank, &n, 1, MPI_INT, MPI_MAX, between));
		CHECK(n == world_of(remote - 1));
		OK(MPI_Comm_free(&between));
	}
	OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
	CHECK(made == MPI_COMM_NULL);
	CHECK(code(inter, MPI_Comm_create_from_group(theirs, "", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made)) == MPI_ERR_GROUP);
	CHECK(code(inter, MPI_Comm_create_from_group(mine, NULL, MPI_INFO_NULL, MPI_ERRORS_RETURN, &made)) == MPI_ERR_ARG);
	n = code(inter, MPI_Intercomm_create_from_groups(mine, 0, theirs, remote, "x", MPI_INFO_NULL, MPI_ERRORS_RETURN, &made));
	CHECK(n == (here ? MPI_ERR_OTHER : MPI_ERR_RANK));
	OK(MPI_Group_free(&mine));
	OK(MPI_Group_free(&theirs));
}

static void wrong_arguments(void)
{
	int n, dims = 1, periods = 0, nothing = 0;
	int a[MOST * MOST] = {0}, b[MOST * MOST] = {0};
	MPI_Comm made;
	MPI_Request request;
	MPI_Win win;
	MPI_File file;
	MPI_Group mine, theirs;
	OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_RETURN));
	OK(MPI_Comm_set_errhandler(group, MPI_ERRORS_RETURN));
	OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
	CHECK(code(inter, MPI_Send(a, 1, MPI_INT, remote, 0, inter)) == MPI_ERR_RANK);
	CHECK(code(inter, MPI_Recv(a, 1, MPI_INT, remote, 0, inter, MPI_STATUS_IGNORE)) == MPI_ERR_RANK);
	CHECK(code(inter, MPI_Probe(remote, 0, inter, MPI_STATUS_IGNORE)) == MPI_ERR_RANK);
	CHECK(code(inter, MPI_Bcast(a, 1, MPI_INT, remote, inter)) == MPI_ERR_ROOT);
	CHECK(code(inter, MPI_Bcast(a, 1, MPI_INT, -17, inter)) == MPI_ERR_ROOT);
	CHECK(code(inter, MPI_Bcast(a, -1, MPI_INT, 0, inter)) == MPI_ERR_COUNT);
	CHECK(code(inter, MPI_Bcast(a, 1, MPI_DATATYPE_NULL, 0, inter)) == MPI_ERR_TYPE);
	CHECK(code(inter, MPI_Reduce(a, b, 1, MPI_INT, MPI_OP_NULL, MPI_ROOT, inter)) == MPI_ERR_OP);
	CHECK(code(inter, MPI_Allgather(MPI_IN_PLACE, 1, MPI_INT, b, 1, MPI_INT, inter)) == MPI_ERR_BUFFER);
	CHECK(code(inter, MPI_Allreduce(MPI_IN_PLACE, b, 1, MPI_INT, MPI_SUM, inter)) == MPI_ERR_BUFFER);
	CHECK(code(inter, MPI_Reduce_scatter_block(a, b, -1, MPI_INT, MPI_SUM, inter)) == MPI_ERR_COUNT);
	CHECK(code(inter, MPI_Reduce_scatter(a, b, NULL, MPI_INT, MPI_SUM, inter)) == MPI_ERR_ARG);
	CHECK(code(inter, MPI_Scan(a, b, 1, MPI_INT, MPI_SUM, inter)) == MPI_ERR_COMM);
	CHECK(code(inter, MPI_Exscan(a, b, 1, MPI_INT, MPI_SUM, inter)) == MPI_ERR_COMM);
	CHECK(code(inter, MPI_Iscan(a, b, 1, MPI_INT, MPI_SUM, inter, &request)) == MPI_ERR_COMM);
	CHECK(code(inter, MPI_Neighbor_allgather(a, 1, MPI_INT, b, 1, MPI_INT, inter)) == MPI_ERR_TOPOLOGY);
	CHECK(code(inter, MPI_Ineighbor_alltoall(a, 1, MPI_INT, b, 1, MPI_INT, inter, &request)) == MPI_ERR_TOPOLOGY);
	CHECK(code(inter, MPI_Cart_create(inter, 1, &dims, &periods, 0, &made)) == MPI_ERR_COMM);
	CHECK(code(inter, MPI_Graph_create(inter, 1, &nothing, &nothing, 0, &made)) == MPI_ERR_COMM);
	CHECK(code(inter, MPI_Dist_graph_create_adjacent(inter, 0, a, a, 0, b, b, MPI_INFO_NULL, 0, &made)) == MPI_ERR_COMM);
	CHECK(code(inter, MPI_Cart_coords(inter, 0, 1, &n)) == MPI_ERR_TOPOLOGY);
	CHECK(code(inter, MPI_Win_create(a, 4, 1, MPI_INFO_NULL, inter, &win)) == MPI_ERR_COMM);
	if (size < MOST && !getenv("REPLICATED"))
		CHECK(code(inter, MPI_File_open(inter, "none", MPI_MODE_RDONLY, MPI_INFO_NULL, &file)) == MPI_ERR_COMM);
	OK(MPI_Comm_group(inter, &mine));
	OK(MPI_Comm_remote_group(inter, &theirs));
	CHECK(code(inter, MPI_Comm_create_group(inter, mine, 0, &made)) == MPI_ERR_COMM);
	CHECK(code(inter, MPI_Comm_create(inter, theirs, &made)) == MPI_ERR_GROUP);
	CHECK(code(inter, MPI_Comm_split(inter, -3, 0, &made)) == MPI_ERR_ARG);
	OK(MPI_Group_free(&mine));
	OK(MPI_Group_free(&theirs));
	CHECK(code(group, MPI_Comm_remote_size(group, &n)) == MPI_ERR_COMM);
	CHECK(code(group, MPI_Comm_remote_group(group, &mine)) == MPI_ERR_COMM);
	CHECK(code(group, MPI_Intercomm_merge(group, 0, &made)) == MPI_ERR_COMM);
	CHECK(code(inter, MPI_Intercomm_create(inter, 0, MPI_COMM_WORLD, 0, 0, &made)) == MPI_ERR_COMM);
	CHECK(code(group, MPI_Intercomm_create(group, local, MPI_COMM_WORLD, 0, 0, &made)) == MPI_ERR_RANK);
	// What only the leader can know is wrong: its group hears of it.
	made = group;
	n = code(group, MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, size, 0, &made));
	CHECK(n == (here ? MPI_ERR_OTHER : MPI_ERR_RANK) && made == MPI_COMM_NULL);
	n = code(group, MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, 0, -1, &made));
	CHECK(n == (here ? MPI_ERR_OTHER : MPI_ERR_TAG) && made == MPI_COMM_NULL);
	CHECK(code(group, MPI_Intercomm_create(group, 0, MPI_COMM_WORLD, 0, 0, NULL)) == MPI_ERR_ARG);
	CHECK(code(inter, MPI_Intercomm_merge(inter, 0, NULL)) == MPI_ERR_ARG);
	n = code(group, MPI_Intercomm_create(group, 0, MPI_COMM_NULL, 0, 0, &made));
	CHECK(n == (here ? MPI_ERR_OTHER : MPI_ERR_COMM) && made == MPI_COMM_NULL);
	OK(MPI_Comm_set_errhandler(inter, MPI_ERRORS_ARE_FATAL));
	OK(MPI_Comm_set_errhandler(group, MPI_ERRORS_ARE_FATAL));
}

int main(int argc, char **argv)
{
	OK(MPI_Init(&argc, &argv));
	begin();
	int rounds = argc > 1 && !strcmp(argv[1], "loop") ? 60 : 1;
	for (int i = 0; i < rounds; i++) {
		groups();
		attributes();
		messages();
		collectives();
		without_parents();
		// Another one over this one, and the old one goes.
		MPI_Comm again;
		connect(MPI_COMM_WORLD, 11, &again);
		OK(MPI_Comm_disconnect(&inter));
		CHECK(inter == MPI_COMM_NULL);
		inter = again;
	}
	wrong_arguments();
	OK(MPI_Comm_free(&inter));
	OK(MPI_Comm_free(&group));
	if (rounds > 1)
		printf("rank %d: %08x\n", rank, digest);
	return END;
}
