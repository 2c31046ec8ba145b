// Package file is MPI's files (MPI-5.0, chapter 14): views, and access to disks, alone and
// together. Package binding puts handles, arguments and errors on top.
//
// # Data
//
// Everything here is bytes in the order of the view, as they lie in the file: package binding
// packs a program's buffer, and converts it, before a write, and after a read. A [View] turns a
// part of that sequence into runs of bytes of the file. Runs that touch are one.
//
// # Access
//
//   - A rank alone ([File.Independent]) reads runs that lie close together in one piece, and picks
//     out its bytes. It writes each run by itself: no byte that the program didn't write is ever
//     written, not even with the value that it has. So writes of other ranks, other programs and
//     other threads to places in between are never undone.
//   - Together ([File.Collective]), if the ranks' runs are interleaved: some ranks, the
//     aggregators, have a part of the file each, its domain. In a write they receive the bytes of
//     all for their domain, and write them in order; in a read it is the other way round. This is
//     two-phase I/O (Thakur, Gropp, Lusk 1999).
//
// # Invariants
//
//   - Reads and writes never hold the engine's lock, so heartbeats go on however slow a disk is.
//   - The ranks agree on what they exchange by data that all have. An error of the disk is no
//     error of an exchange: the aggregator goes on, and tells it at the end.
//   - In a job with replicas the disk and shared pointers are touched only in parts of operations
//     that one replica of the rank does (once.go).
//   - In atomic mode an access holds a lock of the file's bytes from its first to its last
//     (F_OFD_SETLK), and aggregators aren't used.
//
// # Limits
//
// The data of one access is in memory as a whole if it isn't contiguous there, or is converted.
package file
