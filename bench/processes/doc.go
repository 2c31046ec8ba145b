// Package processes is what benchmarks of many processes share: starting them from the bench's
// own program, ending them all, one clock, and one table in which they write down what they see.
//
// # Invariants
//
//   - Nothing stays behind: processes are killed with their groups when the bench ends them, and
//     by the kernel (PDEATHSIG) when the bench ends in any other way. The table has no name.
//   - Nothing is sent for the sake of measuring: a word of the table is a store to memory. Times are of
//     CLOCK_MONOTONIC, one clock for all processes of a machine.
//   - The end of a process that wasn't to end closes [Group.Failed], and the end of what it wrote is in the error.
package processes
