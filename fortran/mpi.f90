! The module mpi: the constants of mpif.h. Procedures have no interfaces, so that each takes
! buffers of any type (-fallow-argument-mismatch).
module mpi
   implicit none
   include 'mpif.h'
end module mpi
