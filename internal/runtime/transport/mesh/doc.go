// Package mesh connects the Procs of a job, on one host or many: by shared memory
// where two can share it, else by TCP.
//
// There is one link per pair, made at the first Send (connect.go, listen.go) by a
// background goroutine, after both ends have proved that they belong to the job
// (handshake.go). Then it is the owner's, who polls it from the calling thread (links.go,
// poll.go, poller.go): no goroutine stands between a program and its frames.
//
// # Media
//
// Which medium a link has follows from the business cards (card.go) of the two, so
// both ends know it: processes of one kernel, process namespace, and network
// namespace meet at a unix socket, hand each other the descriptors of rings (package
// shm), and keep the socket as a lifeline, which ends with the process. All others, those in
// another container on the same host too, meet at a TCP port and send over its
// connection (package tcp). A process that gets no shared memory from its kernel
// publishes no unix socket, and one that can't reach a published one uses TCP.
//
// # Deaths
//
// A peer on the same host is watched by a pidfd, which tells of its end at once,
// whoever else holds its sockets open. When a connection ends and no pidfd tells
// why, the peer is asked: if it has fenced us it says so, and if another host
// answers that nobody listens at its port, it has ended. All else is
// EvidenceLost; so is the Close of a process that lives on for longer than
// exitGrace, which is why who leaves in order says goodbye in a frame. A fenced
// process that can't be reached now is told of it when it can (partition.go).
//
// # Limits
//
// A process uses a descriptor per connection, two where the peer is on the same
// host, three where memory is shared. The traffic isn't encrypted. A host that vanishes is noticed by
// heartbeats, not here. A peer on another host that is stopped for longer than
// dialLimit when it is first contacted counts as lost. Where all peers share memory, a
// program that polls but never waits learns of a death within maxSkipped polls.
package mesh
