! Programs in Fortran connect two groups of ranks: the even ones and the odd ones.
program inter
  use mpi_f08
  implicit none
  integer :: rank, size, colour, remote, here, root, n, total
  integer, allocatable :: all(:)
  logical :: flag
  type(mpi_comm) :: group, between, both, same
  type(mpi_group) :: others
  type(mpi_status) :: status
  call mpi_init()
  call mpi_comm_rank(mpi_comm_world, rank)
  call mpi_comm_size(mpi_comm_world, size)
  colour = mod(rank, 2)
  call mpi_comm_split(mpi_comm_world, colour, 0, group)
  call mpi_intercomm_create(group, 0, mpi_comm_world, 1 - colour, 5, between)
  call mpi_comm_test_inter(between, flag)
  if (.not. flag) print *, 'no intercommunicator'
  call mpi_comm_remote_size(between, remote)
  call mpi_comm_remote_group(between, others)
  call mpi_group_size(others, n)
  if (n /= remote .or. remote /= (size + colour) / 2) print *, 'remote', n, remote
  call mpi_comm_rank(between, here)
  if (here == 0) then
    call mpi_sendrecv(rank, 1, mpi_integer, 0, 1, n, 1, mpi_integer, 0, 1, between, status)
    if (n /= 1 - colour .or. status%mpi_source /= 0) print *, 'message', n
  end if
  root = 0
  if (colour == 0) root = merge(mpi_root, mpi_proc_null, here == 0)
  n = 42 + colour
  call mpi_bcast(n, 1, mpi_integer, root, between)
  if (n /= 42) print *, 'broadcast', n
  allocate(all(remote))
  call mpi_allgather(rank, 1, mpi_integer, all, 1, mpi_integer, between)
  if (any(all /= [(2 * n + 1 - colour, n = 0, remote - 1)])) print *, 'allgather', all
  call mpi_allreduce(rank, total, 1, mpi_integer, mpi_sum, between)
  if (total /= sum(all)) print *, 'allreduce', total
  call mpi_comm_dup(between, same)
  call mpi_intercomm_merge(same, colour == 0, both)
  call mpi_comm_rank(both, n)
  if (n /= merge(remote, 0, colour == 0) + here) print *, 'merged', n
  call mpi_comm_free(both)
  call mpi_comm_free(same)
  call mpi_intercomm_create_from_groups(group_of(group), 0, others, 0, 'fortran', mpi_info_null, mpi_errors_are_fatal, same)
  call mpi_comm_compare(same, between, n)
  if (n /= mpi_congruent) print *, 'compared', n
  call mpi_comm_disconnect(between)
  call mpi_finalize()
  if (rank == 0) print *, 'fine'
contains
  function group_of(comm) result(group)
    type(mpi_comm), intent(in) :: comm
    type(mpi_group) :: group
    call mpi_comm_group(comm, group)
  end function
end program
