! mpif-ext.h: mpi-ext.h for Fortran, valid in fixed and in free form.
! Include it where mpif.h is included or mpi is used. RESTORED is 1 in
! the first call of a process that replaces a dead one, else 0.
! ADDRESS is a target: compilers then know that a safe point may
! change it. Under another MPI, compile Banyan's mpi-ext.c with the program.
      interface
        subroutine MPIX_STATE_REGISTER(NAME, ADDRESS, COUNT,            &
     &      DATATYPE, IERROR)
!GCC$ ATTRIBUTES NO_ARG_CHECK :: ADDRESS
!DIR$ IGNORE_TKR ADDRESS
          character(len=*), intent(in) :: NAME
          real, target :: ADDRESS(*)
          integer, intent(in) :: COUNT, DATATYPE
          integer, intent(out) :: IERROR
        end subroutine
        subroutine MPIX_STATE_UNREGISTER(NAME, IERROR)
          character(len=*), intent(in) :: NAME
          integer, intent(out) :: IERROR
        end subroutine
        subroutine MPIX_SAFEPOINT(RESTORED, IERROR)
          integer, intent(out) :: RESTORED, IERROR
        end subroutine
      end interface
