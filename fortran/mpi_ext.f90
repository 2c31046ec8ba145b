! The module mpi_ext: what mpif-ext.h has.
module mpi_ext
   implicit none
   include 'mpif-ext.h'
end module mpi_ext
