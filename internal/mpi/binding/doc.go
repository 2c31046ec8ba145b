// Package binding implements the functions of the C library, in Go without cgo: the semantics
// of MPI's C interface over communicators of bytes (internal/mpi/comm). The C side (capi) is
// generated and only calls it.
//
// # Adding a function
//
// Each MPI function is a method of *Process. Its name is MPI's without
// underscores: MPI_Comm_get_attr is CommGetAttr. To add one:
//
//  1. "go run ./abi/generate -signature MPI_Comm_get_attr", in the module's root, prints the
//     method with its parameters. MPI_X and MPI_X_c are one method: counts are int64, arrays of
//     them Counts, and results that may be too large for an int CountOut. A collective's
//     functions (MPI_X, MPI_Ix, MPI_X_init) are one method as well, with a Variant. Put the
//     method into the file of its family.
//  2. "go generate ./abi" writes the C entry point, which was a stub before, and checks
//     the signature. Commit capi/entry.c and capi/exports.go with it.
//  3. Test it beside its file, with ranks (ranks_test.go), which runs several ranks in one test
//     process. Properties that only C can show have a program in capi/test/testdata.
//
// A method begins with its communicator and ends with a Code:
//
//	func (p *Process) CommRank(comm Comm, rank *int32) Code {
//		c := p.communicator(comm)
//		if c == nil {
//			return p.noComm("MPI_Comm_rank", comm)
//		}
//		*rank = int32(c.comm.Rank())
//		return Success
//	}
//
// The check covers calls before MPI_Init and after MPI_Finalize too: then no handle has a
// communicator. A function without one begins with
//
//	if !p.live() {
//		return p.outOfTime("MPI_Type_size")
//	}
//
// unless it may be called at any time. For a wrong argument it returns p.fail, which does as
// the error handler says:
//
//	return p.fail(c, "MPI_Send", ErrRank, "the destination is %d, of %d ranks", dest, n)
//
// and for an error of internal/mpi/comm it returns p.failWith(c, "MPI_Send", err). A family's
// state is a field of Process; objects with handles have a table (table.go).
//
// # Pointers
//
// Pointers come from the program and mostly point to C memory. They are valid during the call;
// those of nonblocking operations and attached buffers are valid until these end. C's special
// addresses, such as MPI_IN_PLACE, lie in the first page, where a Go pointer may not point, so
// the entry points move them (InPlace and others). Words of the program that need not be
// addresses, such as values of attributes, are uintptr.
//
// # Invariants
//
//   - No lock is held while a function of the program runs (Callbacks).
//   - An error handler of the program is never called from here: the Code that a
//     method returns makes the C side call it, after Go has returned.
//   - A handle that was freed, or is of the wrong kind, is noticed (table.go).
package binding
