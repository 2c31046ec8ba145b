// Package detection measures failure detectors as their users see them. The members are
// operating-system processes. One of them is killed, stopped or cut off, and the bench measures
// the time until the first and the last of the others know of that. It is the experiment of "A
// Failure Detector for HPC Platforms" (2017), section 5.4, with Banyan's detector and with its
// peer, hashicorp/memberlist.
//
// # How it measures
//
// Every member maps one table in shared memory (scoreboard.go) and writes into its own row the
// time, by CLOCK_MONOTONIC, at which it learnt of each death. Nothing is sent, so reporting
// disturbs no member; the clock is the same for all processes of a machine. The process that
// strikes writes down the time right before the system call that strikes.
//
// A member of Banyan is a program that joins a job and does nothing, or only
// computes: package job, the engine, the transport and the detector as in every
// job. It is started by the real launcher, except for the fault Partition, or
// where Setting.Bare asks for members without any launcher's evidence: those
// have PMI and nothing else. A member of memberlist is the same program with
// memberlist in the place of the job.
//
// # What counts
//
//   - Knowing: the engine's event Died, or memberlist's NotifyLeave.
//   - A message: a frame that a member of Banyan hands to its transport; a packet, or a
//     write to a stream, that memberlist hands to its transport.
//   - A false suspicion: a live member that any other takes for dead, counted once a run. The
//     suspicions of a member that has been struck don't count.
//
// # Invariants
//
//   - Nothing stays behind: every process dies with the process that started it (PDEATHSIG),
//     however that ends; the table and the networks have no names.
//   - Every wait is bounded. A run that doesn't end in time is an error that names the missing
//     members.
//
// # Limits
//
// One machine: with more members than cores every figure contains the scheduler's time, for the
// peer too. Partition needs root, for network namespaces, and the command ip.
package detection
