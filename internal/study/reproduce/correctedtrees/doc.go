// Package correctedtrees repeats the simulations of Küttler et al., Corrected Trees
// for Reliable Group Communication (PPoPP '19): figures 1b, 6, 7, 8, 9, 10 and 14,
// table 1, and what the text says of them.
//
// [Run] simulates, and returns a report that sets the paper's numbers beside ours.
// What the paper fixes (L = 2, o = 1, the trees, the fault rates) is constant; how
// much is simulated are [Parameters]: [Quick], [Default] and [Full].
//
// # How
//
// The package holds no protocol. Broadcasts with dead processes are campaigns
// (internal/study/campaign) below the report's directory, in runs: a spec and a file of results
// each, so that every broadcast has a seed. They
// evaluate checked correction incrementally and run the rest on the engine. Broadcasts without
// faults are run by the engine here. There are two shortcuts, for as many broadcasts as the
// paper's: [reach] finds the processes that overlapped opportunistic correction leaves uncoloured,
// as reachability; [gossipSafety] finds how long gossip must last, from gossip without a network.
//
// # Invariants
//
// The report depends on the Parameters but for Workers, and on nothing else: samples are
// counts of whole numbers, which don't depend on the order in which they come. No number of
// the paper goes into a simulation; each is a literal beside the claim that it belongs to.
//
// A reproduction can be stopped at any moment, also by a kill, and goes on where it was: campaigns
// from their files, everything else from its pieces (internal/study/pieces), in pieces. It
// ends with the same files, byte for byte. The directory holds the Parameters and a fingerprint of
// the simulator's outcomes, so that a run of others is refused there.
//
// # Limits
//
// The paper's pictures are lost: claims are those of its text and table. A broadcast in which all
// children of the root are dead counts in table 1 and in means, as in the paper, but lemma 3 isn't
// asked of it. Memory: 16 bytes for each
// broadcast with checked correction, some 200 for each gossip of [Parameters].SafeRuns.
package correctedtrees
