// Package contention measures how much longer a message takes when other nodes send at the same
// time: figure 7 of Varma et al., "Scalable, Fault-Tolerant Membership for MPI Tasks on HPC
// Systems" (2006). What it measures takes the place of the latency L in the performance model of
// a view (package viewtime), by the number of nodes and of children.
//
// # How it measures
//
// So many nodes, each a process, stand in groups of a parent with its children: one child makes
// pairs, two and four the paper's other two structures. In a round a parent sends a message to each
// child, one after the other, and each child sends one back; the latency is half of the time until
// the parent has all answers, as in a ping-pong. Messages are as large as a proposal in a group of
// 47 and go over TCP connections of the loopback.
//
// All groups begin a round at the same moment, every Plan.Pause, so that nodes come to it from rest
// as they come to a change of view. With no pause rounds follow each other at once.
//
// # Invariants
//
//   - Every wait is bounded, and nothing stays behind: the nodes die with the bench (package
//     processes).
//   - A node that isn't in a group sends nothing.
//
// # Limits
//
// One machine: what nodes contend for are its processors and its kernel, not a switch.
package contention
