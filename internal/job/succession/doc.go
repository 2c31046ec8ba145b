// Package succession lets a job outlive its launcher. The agents of its hosts vote (package
// job/steward); when the launcher's process or its host has died, one of them leads, and starts the
// next launcher, which goes on where the first one was (launcher.Resume).
//
// # Parts
//
//   - [Owner] is the first launcher's part. It opens the agents to each other, tells them which
//     vote, and votes itself: it is the steward of term 1. It keeps the launcher's state, with
//     what else the next one must know ([Legacy]), in the ledger.
//   - [Member] is an agent's part. It has its lease from the voters. If it leads it starts a
//     process of its own for the launcher, and ends that if it doesn't lead any more: so a launcher
//     whose term is over does nothing, and the agent's processes go on.
//   - [Successor] is that process's part. It has hosts take part that are added (joiners.go), and
//     lets those go that are drained (drains.go).
//   - A [Parting] is what an agent leaves whose lease from the voters has ended. Its parent says
//     it, after the agent's end.
//
// # Voters
//
// They are the launcher and up to four agents, on as many machines and, if the job names racks, in
// different ones. A job over less than three machines has no [Owner]: of two, the one that is left
// couldn't know whether the other one is dead. A witness is an agent without processes, a machine
// more that votes; or a directory on a file system that all machines share, with which two are
// enough. It is a witness of the machine's (steward.FileWitness), and votes when an even number of
// machines is left.
//
// # Invariants
//
//   - An agent whose lease from the voters has begun obeys no other, and goes to the launcher of
//     each later term.
//   - The launcher of a term knows of each host either what runs there, or that it is lost, before
//     it goes on.
//   - What a launcher kept is what the next one goes on from.
//
// # Limits
//
// A host whose processes are in the first launcher's own process is lost with it, when its lease is
// over. A launcher that is the process of an agent takes that with it when it is killed. Input that
// is neither a file nor sent by consoles ends with the first launcher. A host that is added is told
// of the first voters alone: one of them must still vote. All agents are told the addresses of all.
package succession
