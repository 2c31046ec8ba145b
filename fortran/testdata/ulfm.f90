! Programs in Fortran revoke, agree and shrink by the module mpi_ext.
program ulfm
  use mpi
  use mpi_ext
  implicit none
  integer :: ierr, flag, c, r
  integer, asynchronous :: n
  integer(kind=mpi_address_kind) :: ft
  logical :: is
  call mpi_init(ierr)
  call mpi_comm_set_errhandler(mpi_comm_world, mpi_errors_return, ierr)
  flag = 6
  call mpix_comm_agree(mpi_comm_world, flag, ierr)
  if (ierr /= mpi_success .or. flag /= 6) print *, 'agree', ierr, flag
  call mpi_comm_dup(mpi_comm_world, c, ierr)
  call mpix_comm_revoke(c, ierr)
  call mpix_comm_is_revoked(c, is, ierr)
  if (.not. is) print *, 'not revoked'
  call mpi_barrier(c, ierr)
  if (ierr /= MPIX_ERR_REVOKED) print *, 'barrier', ierr
  call mpix_comm_shrink(c, n, ierr)
  call mpi_barrier(n, ierr)
  if (ierr /= mpi_success) print *, 'shrunk', ierr
  call mpix_comm_ishrink(mpi_comm_world, n, r, ierr)
  call mpi_wait(r, mpi_status_ignore, ierr)
  call mpi_barrier(n, ierr)
  if (ierr /= mpi_success) print *, 'shrunk in the background', ierr
  call mpi_comm_get_attr(mpi_comm_world, mpix_ft, ft, is, ierr)
  if (.not. is .or. ft /= 1) print *, 'MPIX_FT', is, ft
  call mpi_finalize(ierr)
  print *, 'fine'
end program
