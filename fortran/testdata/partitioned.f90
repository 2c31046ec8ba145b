! partitioned sends a message in parts to the next rank, which has other numbers of parts.
program partitioned
   use mpi_f08
   implicit none
   integer, parameter :: parts = 4, count = 6
   integer :: out(parts*count), in(parts*count), rank, size, i, round
   integer(MPI_COUNT_KIND) :: n
   logical :: arrived, wrong
   type(MPI_Request) :: requests(2)
   type(MPI_Status) :: statuses(2)
   call MPI_Init()
   call MPI_Comm_rank(MPI_COMM_WORLD, rank)
   call MPI_Comm_size(MPI_COMM_WORLD, size)
   n = count
   call MPI_Psend_init(out, parts, n, MPI_INTEGER, mod(rank + 1, size), 3, MPI_COMM_WORLD, MPI_INFO_NULL, requests(1))
   n = parts*count/2
   call MPI_Precv_init(in, 2, n, MPI_INTEGER, mod(rank + size - 1, size), 3, MPI_COMM_WORLD, MPI_INFO_NULL, requests(2))
   wrong = .false.
   do round = 1, 3
      out = [(100*rank + 10*round + i, i=1, parts*count)]
      call MPI_Startall(2, requests)
      call MPI_Pready(3, requests(1))
      call MPI_Pready_range(0, 1, requests(1))
      arrived = .false.
      do while (.not. arrived)
         call MPI_Parrived(requests(2), 0, arrived)
      end do
      call MPI_Pready_list(1, [2], requests(1))
      call MPI_Waitall(2, requests, statuses)
      wrong = wrong .or. any(in /= [(100*mod(rank + size - 1, size) + 10*round + i, i=1, parts*count)])
   end do
   call MPI_Request_free(requests(1))
   call MPI_Request_free(requests(2))
   call MPI_Finalize()
   if (wrong) error stop 'wrong data'
   print '(a)', 'fine'
end program
