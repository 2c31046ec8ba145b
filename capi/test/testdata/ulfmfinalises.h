// The part of ulfm.c in which a rank finalises before others are done with agreements.

// One rank finalises without a communicator that the others agree on: it had an error where that was
// made, say. They take it for one that is gone, and nobody waits for ever.
static void unopened(int rank, int without)
{
	MPI_Comm dup;
	int flag = ~(1 << rank), acked;
	if (rank == without) {
		usleep(rank % 2 * 300000); /* it is asked before or after its end */
		return;
	}
	MPI_Comm_dup(MPI_COMM_WORLD, &dup); /* which needs no messages */
	CHECK(class_of(MPIX_Comm_agree(dup, &flag)) == MPIX_ERR_PROC_FAILED && flag == ~(15 & ~(1 << without)));
	MPIX_Comm_ack_failed(dup, 1, &acked);
	flag = ~(1 << rank);
	CHECK(MPIX_Comm_agree(dup, &flag) == MPI_SUCCESS && flag == ~(15 & ~(1 << without)));
	MPI_Comm_free(&dup);
}

// Rank 2 finalises after some agreements that all have entered. To those who agree without it that is
// a failure, the same one at all of them.
static void finalises(int rank, int before)
{
	enum { most = 20000 };
	static int give[most], sum[most];
	int flag, acked, code, x;
	MPI_Comm next, other;
	MPI_Group failed;
	MPI_Request request;
	MPI_Info info;
	MPI_Comm_dup(MPI_COMM_WORLD, &other);
	MPI_Info_create(&info);
	MPI_Info_set(info, "banyan_resilient", "true");
	MPI_Comm_set_info(other, info);
	MPI_Info_free(&info);
	for (int i = 0; i < before; i++) {
		flag = ~(1 << rank);
		CHECK(MPIX_Comm_agree(MPI_COMM_WORLD, &flag) == MPI_SUCCESS && flag == ~15);
	}
	if (rank == 2)
		return;
	flag = ~(1 << rank);
	CHECK(class_of(MPIX_Comm_agree(MPI_COMM_WORLD, &flag)) == MPIX_ERR_PROC_FAILED && flag == ~11);
	CHECK(MPIX_Comm_get_failed(MPI_COMM_WORLD, &failed) == MPI_SUCCESS && MPI_Group_size(failed, &x) == MPI_SUCCESS && x == 1);
	MPI_Group_free(&failed);
	CHECK(class_of(MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE)) == MPIX_ERR_PROC_FAILED);
	CHECK(class_of(MPI_Barrier(MPI_COMM_WORLD)) == MPIX_ERR_PROC_FAILED);
	MPIX_Comm_ack_failed(MPI_COMM_WORLD, 1, &acked);
	for (int i = 0; i < 100; i++) {
		flag = ~(1 << rank);
		CHECK(MPIX_Comm_agree(MPI_COMM_WORLD, &flag) == MPI_SUCCESS && flag == ~11);
	}
	CHECK(MPIX_Comm_iagree(MPI_COMM_WORLD, &flag, &request) == MPI_SUCCESS && MPI_Wait(&request, MPI_STATUS_IGNORE) == MPI_SUCCESS);
	for (int i = 0; i < most; i++)
		give[i] = 1;
	for (int i = 0; i < 4; i++) {
		int n = i % 2 ? 1 : most;
		sum[0] = sum[n - 1] = -1;
		code = MPI_Allreduce(give, sum, n, MPI_INT, MPI_SUM, other);
		CHECK(sum[0] == 3 && sum[n - 1] == 3 && (i == 0 ? class_of(code) == MPIX_ERR_PROC_FAILED : code == MPI_SUCCESS));
		MPIX_Comm_failure_ack(other);
	}
	CHECK(MPIX_Comm_shrink(MPI_COMM_WORLD, &next) == MPI_SUCCESS);
	go_on(next, 3);
	MPI_Comm_free(&next);
	MPI_Comm_free(&other);
}
