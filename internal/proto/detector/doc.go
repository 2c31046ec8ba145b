// Package detector finds deaths and tells every live process: a ring of
// heartbeats with one observer for each process, and a reliable broadcast over two
// hypercubes, after Bosilca et al., "A Failure Detector for HPC Platforms"
// (RR-9024, 2017), section 2, algorithm 1.
//
// Every process (the emitter) sends a heartbeat each η to the next live process
// on the ring (its observer), which takes δ of silence for a death, unless others that it asks for
// a second opinion hear from the process (opinion.go). A death may
// also be known from certain evidence, such as the kernel's, which always comes
// first. A process that learns of a death reports it at once; the observer of the dead
// process broadcasts it.
//
// # Where the paper, taken literally, breaks
//
// Its task T5 takes one death from a message that lists many, and leaves the
// ring as it was. literal_test.go runs the paper's rules, and shows that they fail. The rules here:
//
//   - A broadcast carries the source's whole list of those gone, and all of it
//     counts. The view's members that aren't in the list take part, labelled clockwise
//     from the source: the same labels for all, whatever they know. A copy goes on by
//     cube, tree and label alone (see [banyan/internal/topology.Hypercubes]), so
//     no process remembers broadcasts. It reaches all live participants if at most
//     ⌊log2 n⌋-1 of n are dead.
//   - A process that learns of a death closes its part of the ring at once.
//   - NEWOBSERVER is believed only if it comes from farther clockwise than the
//     present observer.
//   - Duty. Call the run of those gone directly before a live process on the ring
//     its segment. A process broadcasts each death in its segment itself, however it
//     learned of it, unless a process that left in order has done so. Where a launcher sees
//     every death and tells all (Config.Witness), it waits η, so that the launcher's news comes
//     first. Silence isn't news that waits, unless the launcher is sure to see it (Config.Local).
//   - Any other death that it has heard of in no broadcast is held: it acts on it
//     at once, but tells it only after a back-off of η for each live process
//     between the dead one and itself (at most δ), unless a broadcast with it comes by.
//   - A heartbeat carries a digest of those known to be gone. If it differs from the
//     observer's, and neither has changed by the next one, both send each
//     other all they know. What is new is held.
//
// # Why every live process learns of every death
//
// Let d be dead, and r the nearest process after d that never dies. All
// between them are gone, so r finds out about them one by one, at the latest by silence,
// until d is in its segment. Then it is r's duty to broadcast d, and no
// death can cut that short, because r lives; and if at most k-1 participants die
// meanwhile, it reaches all live ones. A process between them that left in order
// did the same before it said goodbye. So the rules above need no
// "broadcast on what the sender didn't know": for each death that is some process's duty, or the
// death is held.
//
// The observers of a dead process, one after the other as they die, broadcast its
// death: f(f+1)/2 broadcasts for f deaths (corollary 1), and one
// for one death, even if all have evidence of it. Theorem 1 bounds the time until all
// live processes know all f ≤ ⌊log2 n⌋-1 deaths:
//
//	T(f) ≤ f(f+1)δ + fτ + f(f+1)/2·8τ·log2 n
//
// A process that others vouch for has given its last sign of life up to 2τ, not τ, before its
// observer hears of it. So each death whose observer has a bad link to the dead adds τ.
//
// If more die at once, a broadcast may miss some processes; the digests find them.
// A quiet system sends one heartbeat for each process and η, and nothing else.
//
// # Views and incarnations
//
// The detector watches a process in one incarnation: a process that starts again after a death, or
// after it was taken for dead, is a new incarnation. A view says which processes take part, and in
// which incarnation. Membership decides on views, and [Machine.Install] makes one the base list. A
// message of another view counts for what it says of (process, incarnation), but its
// labels mean nothing. A message from a higher incarnation proves that the lower
// ones are dead.
//
// # Invariants
//
//   - Within a view the set of those gone only grows. A process that left never
//     becomes dead, nor the other way round.
//   - The emitter is the nearest process before this one that isn't known to
//     be gone. A new emitter is told so, and has 2δ.
//   - The observer moves clockwise only, within a view.
//   - Every death is reported once, and so is every end in order.
//   - Every death known here has been broadcast by this process, or come by in
//     a broadcast, or is held.
//   - No process is suspected that others vouch for, for patience δ. After that one of the two
//     goes: the observer, if its number is higher, or else the emitter.
//   - A process whose own loop was stopped suspects no process for what it missed,
//     and none suspects one that is excused, or, for 10δ, one that is known to
//     be starved.
//   - A frame from an excluded incarnation is answered with an eviction notice; one that
//     gets an eviction notice, or reads its own name in a list, reports that it is fenced.
//
// # Limits
//
// It needs δ > η + τ + jitter, τ being the longest transit of a message (the paper's δ > τ is too
// weak), and to recognise its own stalls δ ≥ 4η + 2τ (see wake). Second opinions come in time if δ
// ≥ 8τ. One broadcast among n takes up to 2k(2^k-1) messages, k = ⌊log2 n⌋. Neighbours on the ring
// that die at once without evidence, d of them, are found one by one, in up to (2d-1)δ together.
// So the ring should be interleaved by host ([banyan/internal/topology.InterleavedRing]).
// Bulletins aren't signed: peers are trusted.
package detector
