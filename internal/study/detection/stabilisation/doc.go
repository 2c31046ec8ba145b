// Package stabilisation simulates the failure detector of package detector from a first
// failure to the next stable configuration, in which every live node knows of
// every failure: the experiments of Bosilca et al., "A Failure Detector for HPC Platforms"
// (RR-9024), section 4.1 and 4.2.
//
// [Settings] give the system's size and time-outs, and the [Law] by which nodes fail. A
// [Scenario] is one run of them, drawn from a seed: which nodes fail when, and the phase of each
// node's heartbeats. Two engines play scenarios:
//
//   - [Machines] runs the detector's machines under the one-port model (package
//     oneport), every heartbeat and every copy of a broadcast: at 256,000 nodes and 16
//     failures some 78 million events, 0.5 GB and a minute or two;
//   - [Abstraction] computes when time-outs expire, as the paper's own simulator did, in
//     less than a millisecond for any size.
//
// They agree on every run: the same failures, broadcasts and reconnections, and times that differ
// by a few τ, which messages take (TestAgainstMachines). A [Campaign] is many runs, a [Summary]
// their results.
//
// # Limits
//
// The abstraction knows no partial broadcasts. So it is right where theorem 1 covers the
// failures, up to ⌊log2 n⌋ - 1 at a time, and no failure falls into the microseconds of a
// broadcast from the dying node itself. Messages aren't lost and loops don't stall here; package
// oneport can do both. No node joins or leaves, and no death has other evidence than silence.
package stabilisation
