! The module mpi: the constants of mpif.h. Procedures have no interface, so that
! one name takes buffers of any type (-fallow-argument-mismatch).
module mpi
   implicit none
   include 'mpif.h'
end module mpi
