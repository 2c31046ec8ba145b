// Package lane is the memory that Go and the C of one process share, so that C sends and receives
// small messages without entering Go (decision 54). It has the lock of the engine, which makes one
// owner at a time of all that the memory leads to: the ends of the rings, the counts of matching,
// receives that C has noted (Note), and the tables below.
//
// # Invariants
//
//   - The owner of the lock owns all other fields. Closed may be read by anybody, and Tick may be
//     set by anybody.
//   - C takes the lock only by one compare-and-swap from 0, so never past a waiter.
//   - C decides nothing. With a bit of Closed set, with a receive posted or a message unexpected,
//     with a rank or communicator that isn't in the tables, C leaves the call to Go.
//   - C makes a note only while nothing is posted and nothing unexpected, and Go posts the notes
//     that wait before it does anything with the lock. It gives them back only if no other receive
//     is posted.
//   - An end of a ring leaves the table before it is unmapped.
//
// # Limits
//
// Matching is by totals: one posted receive or unexpected message leaves all receives to Go.
// Receives with larger buffers than a frame of the lane has room for aren't noted. Jobs with
// replicas, tracing, checking, fault plans or logged messages have no such memory.
package lane
