! ledclock sends what clocks, random numbers and the process id are (--order leader,clock),
! from one rank to another.
program ledclock
  use mpi
  implicit none
  integer :: ierr, rank, i, c, v(8)
  real :: r(4), t
  character(10) :: d, z
  integer :: st(MPI_STATUS_SIZE)
  call MPI_Init(ierr)
  call MPI_Comm_rank(MPI_COMM_WORLD, rank, ierr)
  call random_init(.false., .false.)
  do i = 1, 30
    call random_number(r)
    call system_clock(c)
    call cpu_time(t)
    call date_and_time(d, z, values=v)
    r(1) = r(1) + c + t + v(8) + mod(getpid(), 1000)
    call MPI_Sendrecv_replace(r, 4, MPI_REAL, 1-rank, 1, 1-rank, 1, MPI_COMM_WORLD, st, ierr)
  end do
  if (rank == 0) print '(a, 4es15.7)', 'ledclock', r
  call MPI_Finalize(ierr)
end program ledclock
