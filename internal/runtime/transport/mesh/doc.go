// Package mesh connects the Procs of a job, on one host or many: by shared memory
// where two can share it, else by TCP.
//
// There is one link per pair. A background goroutine makes it at the first Send (connect.go,
// listen.go), after both ends have proved that they belong to the job (handshake.go); the link
// table (linktable.go) has the state of each. Then the transport's owner polls the link from the
// calling thread (rings.go, poll.go, poller.go): no goroutine stands between a program and its
// frames.
//
// # Media
//
// The medium of a link follows from the business cards (card.go) of the two, so both ends know
// it. Processes of one kernel, process namespace and network namespace connect to a unix socket,
// hand each other the descriptors of rings (package shm), and keep the socket, which ends with
// the process, as a lifeline. All others, even those in another container on the same host,
// connect to a TCP port and send over that connection (package tcp). A process that gets no
// shared memory from its kernel publishes no unix socket, and one that can't reach a published
// one uses TCP.
//
// # Deaths
//
// A peer on the same host is watched by a pidfd, which tells of its end at once, even if another
// process holds its sockets open. When a connection ends and no pidfd tells why, a liveness probe
// (probe.go) asks the peer: if it has fenced this process it says so. All else is EvidenceLost, a
// hint: networks and firewalls break and refuse connections, too, so no death on another host is
// certain here. So is the Close of a process that lives on for longer than exitGrace; therefore a
// process that leaves in order says goodbye in a frame. A fenced process that can't be reached now
// is told of it when it can be (partition.go).
//
// # Limits
//
// A process uses a descriptor per connection, two if the peer is on the same host, three if memory
// is shared. Unless the job wants it sealed (sealed.go), what travels between hosts can be read and
// changed on the way. The end of a whole host is noticed by heartbeats, not here, and so is the
// death of a process on another host, unless a process beside it reports it. A peer on another host
// that is stopped for longer than dialLimit when it is first contacted counts as lost. Where all
// peers share memory, a program that polls but never waits learns of a death within maxSkipped
// polls.
package mesh
