// Package processes is what benchmarks of many processes share: starting processes from the
// bench's own program, ending them all, one clock, and one table in which they write down what
// they see.
//
// # Invariants
//
//   - Nothing stays behind: processes are killed with their groups when the bench ends them, and
//     by the kernel (PDEATHSIG) when the bench ends in any other way. The table has no name.
//   - Measuring sends nothing: writing a word of the table is a store to memory. Times are of
//     CLOCK_MONOTONIC, one clock for all processes of a machine.
//   - A process that ends too early closes [Group.Failed], and the error has the end of what it
//     wrote.
package processes
