# find_package(Banyan) makes the targets Banyan::C, Banyan::CXX and Banyan::Fortran, for the languages
# of the project. It finds the installation by its own place. It also leads a later find_package(MPI)
# to this installation, for projects that have that.
get_filename_component(_banyan "${CMAKE_CURRENT_LIST_DIR}" REALPATH)
get_filename_component(Banyan_PREFIX "${_banyan}/../../.." ABSOLUTE)
unset(_banyan)

set(_banyan_missing)
foreach(_banyan_file include/mpi.h lib/libmpi_abi.so lib/libmpifort_abi.so bin/mpicc bin/mpiexec)
  if(NOT EXISTS "${Banyan_PREFIX}/${_banyan_file}")
    list(APPEND _banyan_missing "${_banyan_file}")
  endif()
endforeach()
if(_banyan_missing)
  set(Banyan_FOUND FALSE)
  set(Banyan_NOT_FOUND_MESSAGE "there is no ${_banyan_missing} in ${Banyan_PREFIX}: the installation isn't whole")
  return()
endif()

if(NOT TARGET Banyan::mpi_abi)
  add_library(Banyan::mpi_abi SHARED IMPORTED)
  set_target_properties(Banyan::mpi_abi PROPERTIES
    IMPORTED_LOCATION "${Banyan_PREFIX}/lib/libmpi_abi.so.1"
    IMPORTED_SONAME libmpi_abi.so.1
    INTERFACE_INCLUDE_DIRECTORIES "${Banyan_PREFIX}/include")
  add_library(Banyan::C INTERFACE IMPORTED)
  set_property(TARGET Banyan::C PROPERTY INTERFACE_LINK_LIBRARIES Banyan::mpi_abi)
  add_library(Banyan::CXX INTERFACE IMPORTED)
  set_property(TARGET Banyan::CXX PROPERTY INTERFACE_LINK_LIBRARIES Banyan::mpi_abi)
  add_library(Banyan::mpifort_abi SHARED IMPORTED)
  set_target_properties(Banyan::mpifort_abi PROPERTIES
    IMPORTED_LOCATION "${Banyan_PREFIX}/lib/libmpifort_abi.so.1"
    IMPORTED_SONAME libmpifort_abi.so.1)
  add_library(Banyan::Fortran INTERFACE IMPORTED)
  set_target_properties(Banyan::Fortran PROPERTIES
    INTERFACE_COMPILE_OPTIONS "$<$<COMPILE_LANGUAGE:Fortran>:-fallow-argument-mismatch>"
    INTERFACE_LINK_LIBRARIES "Banyan::mpifort_abi;Banyan::mpi_abi")
endif()

foreach(_banyan_language C CXX Fortran)
  if(NOT MPI_${_banyan_language}_COMPILER)
    string(REPLACE "Fortran" "fort" _banyan_name "${_banyan_language}")
    string(REPLACE "CXX" "cxx" _banyan_name "${_banyan_name}")
    string(REPLACE "C" "cc" _banyan_name "${_banyan_name}")
    set(MPI_${_banyan_language}_COMPILER "${Banyan_PREFIX}/bin/mpi${_banyan_name}")
  endif()
endforeach()
if(NOT MPIEXEC_EXECUTABLE)
  set(MPIEXEC_EXECUTABLE "${Banyan_PREFIX}/bin/mpiexec")
endif()
unset(_banyan_name)
unset(_banyan_file)
unset(_banyan_language)
unset(_banyan_missing)
