// Package loggp measures what messages cost on this machine, in the terms of the simulator of
// replicated jobs (internal/study/replication, whose costs are LogGP's), and sets what the
// simulator says of a program beside what the same program takes as a real job.
//
// # How it measures
//
// Rank 0 of two sends some messages, computes until the answers have certainly come, and receives
// them. The calls are timed: none waits for anything. So a call that sends takes o and a copy into
// the network, one that receives o and a copy out of it, as the simulator has them. Medians of
// many such calls are of o where messages are short, and their slope over the bytes is the copy's.
// Half a ping-pong is L + s·G and both calls: what is left is L, and its slope G. A long train of
// messages shows g, the time from one to the next.
//
// With two replicas of each rank the same calls tell what replication adds to a message, and with
// an acknowledgement for each message what such a frame takes. There may be fewer cores than
// processes then: so they sleep in place of computing, and are compared with unreplicated ones
// that sleep, too. A call is much shorter than a turn of the scheduler, and few are the first of
// many, which may have to wake another process up: medians are of neither kind.
//
// # Limits
//
// Two ranks of one machine, over its shared memory or its TCP. A cost that comes out below 0, as a
// difference of two medians may, is 0. Messages are those that are sent whole: larger ones cost
// what the simulator makes of these costs.
package loggp
