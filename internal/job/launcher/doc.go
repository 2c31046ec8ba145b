// Package launcher runs a job on this machine: it starts the processes, lets them
// find each other, passes their input and output, hears of their deaths first,
// and ends with the job's exit code. It is what "banyan run" does.
//
// # Who knows what
//
// One goroutine, the loop in job.go, owns the job. Everything else tells it
// events: a process was reaped, a process said something on its lifeline, a
// signal came, a planned fault is due. What an event means is decided by the ledger
// (ledger.go), which is pure and tested as such; the loop carries the decision out.
// The loop never waits for a process, a pipe or the terminal.
//
// # Rules of life and death
//
//   - A process leaves in order if it exits with 0 after it has finalised, or
//     without ever having initialised the library.
//   - Otherwise its end is a death: by a signal, by an exit code, by an exit
//     without finalising, or by silence, when another process suspects it and the
//     launcher kills it. All others are told at once.
//   - A process to which a debugger is attached isn't taken for dead when it is
//     silent: all others are told to excuse it (tracer.go).
//   - A rank whose replicas have all died is lost. That ends the job, unless
//     the program has said that it handles it.
//   - If all replicas of a lost rank ended alike, that is the program's own
//     doing, and its exit code, or 128 + its signal, is the job's. Otherwise
//     the job's exit code is 1.
//   - A process that ends badly after it has finalised harms nobody: the
//     others are left to their ends, and the job's exit code tells.
//
// # Replacements
//
// With --heal a replica that died is replaced, where its program has safe points
// (heal.go): the launcher starts another process in its place, names a donor
// among the live replicas of the rank, has all others admit the replacement, and the
// replacement's output follow the donor's. The two do the rest between them. What is said to whom, and when, is decided
// by package recovery, which is pure; the loop carries it out. One is
// healed at a time; what doesn't come about in time is given up, and a place that three
// in a row failed to fill stays empty. Until a replacement says that it is a replica
// its place counts as dead.
//
// # What stays behind
//
// Nothing. Every process has a process group, which is killed when the process
// ends. The kernel kills the processes if the launcher dies (PDEATHSIG), and
// their lifelines end. Nothing is put into the file system.
//
// # Limits
//
// One host. What a program's processes have started themselves is ended with them,
// with two exceptions: what has left their process group, and, if the launcher is
// killed by SIGKILL, what doesn't hold the lifeline or a pipe of the job, such
// as a sleep in a shell script.
//
// A replacement to rank 0 gets the job's input from its first byte on: rank 0 isn't healed
// if there has been more than a mebibyte of it, or if the rank has read any since its first
// safe point. A trace has nothing of replacements. Planned faults of the moment
// strike them as well, those that count sends don't.
package launcher
