// Package rma is one-sided communication: what MPI_Put and its kin do to the memory of a window,
// and the epochs that order them.
//
// # Ways
//
// A part of a window that this process can load from and store to (comm.WindowPart.At) is accessed
// at once, by the origin (near.go); mostly by C, without this package (native.go says what C is
// told). Accumulates take turns at a part (turn.go): few elements are changed by atomic
// instructions of the processor, among others; many, and those that no instruction has (reals of
// 16 bytes, complex numbers, pairs, what isn't aligned), alone. All else travels as messages
// (message.go), which the target's engine hears and carries out as they come, also while its
// program computes (target.go).
//
// # Completion
//
// Messages of one origin are carried out in the order of their sends. So an operation needs no
// answer of its own: a flush asks for one, behind all before it. What fetches data is answered by
// the data. A fence is a flush of all targets that were accessed, then a barrier. The end of an
// access epoch by MPI_Win_complete is one message behind the others, which MPI_Win_wait counts; or
// a count in memory that both share, if no message precedes it (event.go).
//
// # Replicas
//
// In a job with replicas the targets' programs carry the operations out themselves, at the fence
// or in MPI_Win_wait, by receives from named ranks in the order of ranks (replicas.go). So all
// replicas of a rank do the same in the same order. Passive targets are refused there.
//
// # Invariants
//
//   - What a message says is checked against the target's own part: no access leaves it.
//   - Elements of accumulates are atomic against each other, whichever way they come.
//   - No word in shared memory keeps others out for longer than its owner's death is unknown.
//   - Which epoch there is is known in lane.Win alone, which C changes, too. It knows of something
//     under way as long as anything is.
package rma
