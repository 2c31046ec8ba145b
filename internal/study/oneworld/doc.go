// Package oneworld plays whole jobs on several hosts in one simulated world, under faults, and
// checks what jobs promise. A seed is a run: it says how many hosts and ranks there are, what the
// program does, what goes wrong and when, and how long each message takes. "banyan sim job" plays
// runs, and tells what happens in one.
//
// # What is the real code
//
//   - A process of the job is a process.Process, with all its machines and the routing between
//     them: replication, causality, matching, detector, membership, shutdown barrier, recovery,
//     states.
//   - An agent is a steward.Agent, and a witness a steward.Witness: leases, terms, the ledger,
//     verdicts.
//   - The steward's recovery is a recovery.Machine, and placement.Job chooses the host of a
//     replacement.
//
// # What is modelled
//
//   - The kernel of a host (host.go): fork, exit, the reaping of children, the death of the
//     processes with their agent and when the lease is over, a clock with a rate and an offset of
//     its own. The first processes start with their host's first lease.
//   - The network (network.go, link.go): paths that pass, drop or reject, in either direction;
//     connections that are refused, break, or go silent, with what is in them; dials that are
//     repeated for 5 s. What a process learns of the end of a connection is as in package mesh.
//     Memory that processes of a host share is not modelled: they have connections like others.
//   - The engine: a program of steps (program.go) that calls the process as the engine would. It
//     computes, exchanges a halo, sums up over all ranks, prints a line, and has safe points.
//   - The driver of the acting steward (lead.go) and the conversation between it, agents and
//     processes: deaths that are told, suspicions, commands with a term, the steps of a recovery.
//     This is as the launcher does it, also where the steward moves (succession.go): what it keeps
//     in the ledger, and what becomes of replacements that are under way.
//   - Drains: the lead has the processes of a drained host retired one by one. Hosts aren't added.
//   - Output (console.go): by rank and offset. An agent keeps what isn't acknowledged. A console
//     that is attached goes on behind what was shown. There is no input.
//
// # What is checked
//
// At each step: what was shown is the beginning of the undisturbed output; one steward acts in a
// term, and no agent obeys an earlier one than before; a host that counts as lost has no process
// that may act; no process starts while another incarnation of it may act, or beside a replica of
// its rank; a process that a view calls dead is, and one that all are told is dead; live processes
// agree on views; no process leaves in order while another one that may act isn't through; a rank
// that is declared lost has no live replica; a process of a drained host is retired only if another
// replica lived when it was asked.
//
// At the end: every agent has ended within 150 s, and no process is left; the output is whole if
// the job ended well; some rank was lost if it ended with 1; and if no steward ended it, no agent
// that is left reaches a quorum of the voters.
//
// # Canaries
//
// A Bug is a mistake that a run makes on purpose. TestCanaries finds each within a few runs.
//
// # Limits
//
// Whether a rank had to be lost isn't judged: a process that is silent for δ may be killed
// although it would have come back. Messages aren't damaged. The agents of a host aren't started
// again.
package oneworld
