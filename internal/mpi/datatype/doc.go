// Package datatype is MPI's datatypes: where a program's data lies in memory, and how to copy
// it to and from a message.
//
// A type is a type map: a sequence of elements, each with a Kind and a displacement in bytes
// from the address that the program gives. [Predefined] gives the types of the ABI. The
// constructors (Contiguous, Vector, …, Darray) make others from them. All follow MPI-5.0,
// chapter 5 (the data representation external32: section 14.5.2).
//
// # Shape
//
// A type map may have 2^60 elements, so it is never written out. A type holds a small tree of
// runs, loops and lists, which the constructors keep in a normal form: a vector of contiguous
// blocks is one loop over one run, neighbouring fields of a struct are one run, and an indexed
// type with constant steps is a loop. Pack and Unpack walk this tree. To count elements and to
// convert to external32, a second tree keeps the kinds, where the two differ.
//
// # Invariants
//
//   - A Type never changes after it was made. Several threads may use it.
//   - Bytes are packed in the order of the type map, without gaps or headers. Each instance has
//     Size bytes.
//   - Pack and Unpack allocate nothing and touch no byte outside the type map. They may begin
//     and end at any byte.
//   - No size, bound or displacement is beyond ±2^62: otherwise constructors return
//     ErrTooLarge. So later arithmetic needs no checks.
//
// # Limits
//
// The representation is x86-64 Linux's: little-endian, long and pointers of 8 bytes, long
// double the 80-bit format in 16 bytes. The extent of a struct has the C compiler's padding. As
// in MPI, a program must not receive into a type map that overlaps itself; this isn't checked.
package datatype
