// Package launcher runs a job: it has the processes started, lets them find each other, passes
// their input and output, learns of their deaths first, and ends with the job's exit code. It is
// what "banyan run" does.
//
// The launcher decides; agents (package agent) carry out, one on each host. A job on this host has
// one agent, in the launcher's process, and is otherwise the same.
//
// # Parts
//
// One goroutine, the loop (loop.go), owns the job (job.go). All other goroutines post events to
// it: a process was reaped, a process sent a message on its lifeline, a signal came, a planned
// fault is due. The loop never waits for a process, an agent, a pipe or the terminal.
//
//	the plan        config.go parts.go degrees.go heartbeat.go privatedir.go bind.go environment.go
//	to start        hosts.go, spawn.go, attach.go (PMI, lifelines, ends), process.go
//	input, output   feeder.go, outputs.go and package output
//	to decide       ledger.go (pure), death.go hostloss.go drain.go silence.go corruption.go
//	                faults.go end.go signals.go debugger.go explain.go
//	to replace      recovery.go replacement.go donor.go, and package recovery (pure)
//	to go back      rollback.go epoch.go repeated.go snapshotdir.go, and package rollback (pure)
//	to go on        state.go resume.go missing.go: another launcher takes over
//	to show         screen.go positions.go reporter.go report.go recording.go span.go status.go
//	                requests.go, and package console; watch.go, and package status (pure)
//
// # Rules of life and death
//
//   - A process leaves in order if it exits with 0 after it has finalised, or without ever having
//     initialised the library.
//   - Otherwise its end is a death: by a signal, by an exit code, by an exit without finalising,
//     or by silence, when another process suspects it and the launcher kills it. All others are
//     told at once.
//   - A process to which a debugger is attached isn't taken for dead when it is silent: all others
//     are told to excuse it (debugger.go).
//   - A rank whose replicas have all died is lost. That ends the job, unless the program has said
//     that it handles the loss.
//   - If all replicas of a lost rank ended alike, the program caused that, and its exit code, or
//     128 + its signal, is the job's. Otherwise the job's exit code is 1.
//   - A process that fails after it has finalised doesn't end the others. The job's exit code
//     tells of it.
//   - A lost host is the death of all its processes, when its agent's lease is over. Until then
//     they may be fenced and silent, and the others go on without them, but none is replaced and
//     no rank is lost. The user gets one line for the host.
//
// # Replacements
//
// With --heal a replica that died is replaced, if its program has safe points: the launcher starts
// another process for its replica slot, names a donor among the live replicas of the rank, has all
// others admit the replacement, and has the replacement's output follow the donor's. The donor
// sends its state directly to the replacement. Package recovery decides what is sent to whom, and
// when; the loop carries that out. One replica is replaced at a time. A phase that takes too long
// is given up, and after three failures in a row the slot stays vacant. The slot counts as vacant
// until the replacement says that it is a replica.
//
// A replacement starts on the host that Config.Rehome names, never on one that runs another
// replica of its rank unless that is allowed. If there is none the slot waits.
//
// A host that is added while the job runs (Config.Arrivals) waits for replacements. Its agent has
// the next number. A host that is drained leaves: its processes are retired one by one and
// replaced elsewhere, then its agent ends (drain.go).
//
// # Going back
//
// With --rollback, snapshots are taken of the job. When a rank has no replica left all processes
// are killed and start again from the last one: an epoch of its own, with its own PMI space,
// secret, ledger, recovery, incarnations and outputs. The agents keep the snapshots in memory,
// each process's at its host; if that is a rank's only host, at a buddy, too. No replacement is
// started while a snapshot is taken, and none is taken while one is under way. What was shown of
// the output is known by its offsets, and isn't shown again. A process that fails by itself
// before there is a snapshot ends the job, as without --rollback.
//
// # Another launcher
//
// A launcher whose Config has Keep tells its State whenever that has changed. If the launcher is
// lost, another one can go on from there (Resume): the agents still have the processes, what these
// have said and how they ended, and all output that the Screen hasn't shown for good. What must
// not be done twice, or be forgotten, waits until the State is kept: the start of a replacement,
// where its output begins, the opening of a PMI barrier.
//
// The exact output has limits. Replicas that write different bytes may be shown with a piece of
// one behind a piece of another. If a donor was ahead of the replica that is shown, and that one
// dies together with the launcher, what lay between is lost, and nothing tells of it. That a host
// is being drained is forgotten.
//
// # What stays behind
//
// Nothing, but the snapshots in a directory that the user names. Every process has a process
// group, which is killed when the process ends. If the launcher dies, the kernel kills the
// processes (PDEATHSIG), and their lifelines end. Nothing is left in the file system.
//
// # Limits
//
// All input, output and PMI go through the launcher's host. The job ends with the launcher, unless
// another one resumes it. A replacement that isn't a replica yet when its launcher is lost is
// begun anew. A drain that was under way is forgotten.
//
// Which process is on which host is told to the processes once: a replacement elsewhere counts as
// a process of its predecessor's host in MPI_Comm_split_type and in the ring of heartbeats. If all
// processes start on one host, they can be reached from there only, and no replacement can join
// them from another. A job with agents of other hosts isn't suspended by SIGTSTP.
//
// The launcher also ends what the processes have started, with two exceptions: what has left its
// process group, and, if the launcher is killed by SIGKILL, what doesn't hold the lifeline or a
// pipe of the job, such as a sleep in a shell script.
//
// A replacement of rank 0 gets the job's input from its first byte on. Rank 0 isn't healed if
// there was more than 64 MiB of input, or if the rank has read any since its first safe point
// through buffers of its own. A trace has no frames of replacements. Planned faults at a time
// strike replacements, too; faults that count sends don't.
package launcher
