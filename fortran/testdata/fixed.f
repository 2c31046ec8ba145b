C     A program in fixed form with mpif.h, like codes of the 1990s.
      program fixed
      include 'mpif.h'
      integer ierr, rank, nprocs, status(MPI_STATUS_SIZE), i
      double precision x(1000), y(1000), total, t
      call mpi_init(ierr)
      call mpi_comm_rank(mpi_comm_world, rank, ierr)
      call mpi_comm_size(mpi_comm_world, nprocs, ierr)
      t = mpi_wtime()
      do 10 i = 1, 1000
        x(i) = rank
 10   continue
      call mpi_sendrecv(x, 1000, mpi_double_precision,
     &     mod(rank+1, nprocs), 3, y, 1000, mpi_double_precision,
     &     mod(rank+nprocs-1, nprocs), 3, mpi_comm_world, status, ierr)
      call mpi_reduce(y(500), total, 1, mpi_double_precision, mpi_sum,
     &     0, mpi_comm_world, ierr)
      if (rank .eq. 0) write(*, 20) total
 20   format('the sum of all ranks is ', f6.1)
      if (mpi_wtime() .lt. t) stop 2
      call mpi_finalize(ierr)
      end
