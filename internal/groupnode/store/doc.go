// Package store keeps on disk what a group has to know after its processes have ended.
//
// # Invariants
//
//   - A file is replaced in one step: after a power cut it has the old content or the new one.
//   - What a call has returned is on disk: the file and its directory entry are synced.
//   - One process at a time changes a file. A lock that the kernel gives back at the holder's end
//     sees to it.
//
// # Limits
//
// Locks are those of the file system. One that doesn't lock across hosts must not be shared.
// Elsewhere than on Unix and Windows nothing is locked.
package store
