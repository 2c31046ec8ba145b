! Programs revoke, agree and shrink by the module mpi_ext with the types of mpi_f08. Rank 1 dies.
program ulfm08
  use mpi_f08
  use mpi_ext
  implicit none
  interface
    subroutine abort() bind(C)
    end subroutine
  end interface
  integer :: code, me, n, acked
  integer, asynchronous :: flag
  type(MPI_Comm) :: c
  type(MPI_Comm), asynchronous :: next
  type(MPI_Group) :: failed
  type(MPI_Request) :: request
  integer(MPI_ADDRESS_KIND) :: value
  logical :: is
  call MPI_Init()
  call MPI_Comm_dup(MPI_COMM_WORLD, c)
  call MPI_Comm_set_errhandler(c, MPI_ERRORS_RETURN)
  call MPI_Comm_rank(c, me)
  flag = 6
  call MPIX_Comm_agree(c, flag, code)
  if (code /= MPI_SUCCESS .or. flag /= 6) print *, 'agree', code, flag
  if (me == 1) call abort()
  call MPI_Barrier(c, code)
  if (code /= MPIX_ERR_PROC_FAILED .and. code /= MPIX_ERR_REVOKED) print *, 'barrier', code
  call MPIX_Comm_revoke(c)
  call MPIX_Comm_is_revoked(c, is)
  if (.not. is) print *, 'not revoked'
  call MPIX_Comm_agree(c, flag, code)
  if (code /= MPIX_ERR_PROC_FAILED) print *, 'agree after a death', code
  call MPIX_Comm_get_failed(c, failed)
  call MPI_Group_size(failed, n)
  call MPIX_Comm_ack_failed(c, n, acked)
  if (n /= 1 .or. acked /= 1) print *, 'failed', n, acked
  call MPIX_Comm_failure_ack(c)
  call MPIX_Comm_failure_get_acked(c, failed)
  call MPI_Group_size(failed, n)
  if (n /= 1) print *, 'acknowledged', n
  call MPIX_Comm_iagree(c, flag, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPIX_Comm_agree_failed(c, failed)
  call MPIX_Comm_ishrink(c, next, request)
  call MPI_Wait(request, MPI_STATUS_IGNORE)
  call MPI_Comm_free(c)
  call MPIX_Comm_shrink(next, c)
  call MPIX_Comm_refill(c, next)
  call MPI_Comm_get_attr(next, MPIX_SPARES, value, is)
  call MPI_Comm_size(next, n)
  if (n /= 2 .or. .not. is .or. value /= 0) print *, 'refilled', n, is, value
  call MPI_Finalize()
  print *, 'fine'
end program
