// Package pattern makes the communication of parallel programs: who sends how much to whom, step by
// step, and when they compute. It has no data and no time of its own.
//
// A Pattern is send-deterministic: what a rank sends depends on the rank and the step alone. So all
// replicas of a rank do the same, whatever order a receive from any source takes messages in.
//
// # The patterns
//
// Each step of a rank is one iteration of its program. Bytes is the size of one message, as each
// says; computation is the whole of the step's, of which operations take shares.
//
//	halo2d      2-D blocks: exchange with up to 4 neighbours, bytes each, then compute
//	halo3d      3-D blocks: the same with up to 6
//	stencil-cg  conjugate gradients over a 3-D grid: halo3d, then two sums of 8 bytes over all
//	cg          NAS CG's: rows and columns of processes (a power of two of ranks). The sum of a
//	            vector's part over the row in log2 exchanges, an exchange with the transposed
//	            process, bytes each, and two sums of 8 bytes over the row
//	multigrid   a V-cycle over a 3-D grid: a halo3d on each level down and up again. Each coarser
//	            level has a quarter of the bytes and an eighth of the computation. One sum of 8
//	            bytes over all
//	fft         slabs: every rank exchanges bytes with every other one, 8 exchanges at a time
//	pencil      pencils: the same within rows and then within columns of processes
//	sweep       wavefronts over 2-D blocks from all four corners, each in blocks of planes: receive
//	            from upstream, compute, send downstream
//	gather      a master that takes a result of every worker from any source, and then gives each
//	            a new task in the order of the ranks: the send-deterministic form of master and
//	            workers
//
// Grids of processes are as square as their number allows, and have borders. With Any the halos
// (and the parts of other patterns that are halos) receive from any source, by tags that name the
// direction. Sums over all are by recursive doubling, in a context of their own, as in package
// comm.
//
// # Limits
//
// Ranks are alike but for borders; there is no imbalance but what the caller's jitter makes. In NAS
// MG and FT, which multigrid and fft resemble, coarse levels leave processes idle, and large
// exchanges are one call of Alltoall; here a process waits only until no more than 16 of its
// requests are under way.
package pattern
