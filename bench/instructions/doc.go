// Package instructions counts the instructions that an MPI library takes for an
// operation: a figure that depends neither on the machine's load nor on its speed.
//
// # Method
//
// A process of a job of bench/peers' program is traced (ptrace) and one thread of it, that of the
// program, is stepped through the operations, instruction by instruction; its other threads are
// stopped meanwhile, and all other processes run. A step takes some microseconds, so whatever the
// others have to do they have done when the stepped one looks for it: what is counted is the way
// of a message without any waiting. Among replicas it is the one that lags behind, for which
// others have everything already; with Row.Ahead the others wait until it is done, so that it has
// to keep what it sends. Of twelve operations in a row that with the fewest counts: the others
// met a heartbeat, a signal, or a peer that didn't run.
//
// # Limits
//
//   - linux on amd64.
//   - Instructions of the program and its libraries only: those of the kernel in a
//     system call aren't seen.
//   - A peer that sleeps must be woken, which takes the stepped process 48 instructions more
//     (rouse in the profile). Where nothing else runs, the peer of a short operation never sleeps
//     meanwhile; on a busy machine it does in all of the twelve. So two counts compare only if
//     both machines were quiet.
//   - An instruction isn't a unit of time: one that waits for a cache line of another
//     core, or a locked one, takes as long as tens of others.
package instructions
