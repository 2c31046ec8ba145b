// Package cluster gives tests the hosts of scripts/cluster.sh: several on this machine, each with
// its own network, processes, files for the moment and boot id, with real sshd and real Slurm.
//
// Package hosts makes hosts too, of two namespaces each, for the processes of one test. Here jobs
// are started as their users start them: by srun, by mpiexec over ssh, by banyan run.
//
// # Invariants
//
//   - A cluster has a name. Up removes what an earlier one of that name left, also after a crash.
//   - A test ends with a whole cluster: Heal mends the faults, and boots hosts on which something
//     was left.
//   - Each wait has an end.
//   - A cluster has one test at a time. What a test adds to its environment, and the files that it
//     has there, are gone with the test.
//
// # Limits
//
// It needs root, Linux and Debian's packages (scripts/cluster.sh install). Its tests run by "make
// test-cluster" only.
package cluster
