// Package probing is the arithmetic and the Monte-Carlo of random probing rounds:
// in a round each of n nodes probes one other, chosen at random. It answers what
// Bosilca et al., "A Failure Detector for HPC Platforms" (RR-9024), sections 3.4
// and 4.3 ask of randomised detectors:
//
//   - how many rounds pass until every node has been probed (figure 6), and
//   - how many probes hit one node in a round at most (figure 7), which a time-out
//     must allow for.
//
// No protocol runs here; internal/study/protocol/swim is one. The simulation draws and counts all
// probes, as the paper's simulator did, at up to hundreds of thousands of nodes.
//
// Outcomes depend on the seed only, not on the number of workers.
package probing
