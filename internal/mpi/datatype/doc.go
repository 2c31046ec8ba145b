// Package datatype is MPI's datatypes as data: what lies where in the memory of a
// program, and how to move it to and from a message.
//
// A type is a type map, a sequence of elements, each of a Kind and at a displacement in
// bytes from the address that the program gives. [Predefined] are the types of the
// ABI; the constructors (Contiguous, Vector, …, Darray) make others of them. All follow MPI-5.0,
// chapter 5 (the data representation external32: section 14.5.2).
//
// # Shape
//
// A type map may have 2^60 elements, so it is never written out. A type holds a small
// tree of runs, loops and lists, which the constructors keep normal: a vector of contiguous
// blocks is one loop over one run, neighbouring fields of a struct are one run, an
// indexed type with constant steps is a loop. Pack and Unpack walk the tree; so do
// counting elements and external32, over a second tree that keeps the kinds, where the two
// differ.
//
// # Invariants
//
//   - A Type never changes once made, and may be used by several threads.
//   - Bytes are packed in the order of the type map, without gaps or headers: Size of
//     them for each instance.
//   - Pack and Unpack don't allocate, touch no byte outside the type map, and may begin and
//     end at any byte.
//   - No size, bound or displacement passes ±2^62: constructors refuse with
//     ErrTooLarge, so that the arithmetic behind them needs no checks.
//
// # Limits
//
// The representation is x86-64 Linux's: little-endian, long and pointers of 8 bytes, long double
// the 80-bit format in 16 bytes. The extent of a struct is padded as its C compiler
// does. Type maps that overlap themselves may be sent, but not received into (as in
// MPI); this isn't checked.
package datatype
