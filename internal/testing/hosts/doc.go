// Package hosts turns one host into several, for tests. Each is a network namespace with a host
// name of its own. The packets between them go through the test process, which can cut, delay and
// lose them.
//
// A Network holds the hosts. Each host has one interface, a TUN device at 10.77.0.1, 10.77.0.2, …,
// whose other end is a descriptor of this process. The process reads the packets of a host from its
// descriptor and writes them to that of their destination, if the Link lets them through. So the
// kernel must offer only namespaces and TUN: no bridges, packet filters or queueing disciplines.
// The processes under test use the kernel's own TCP, with its retransmissions.
//
// # Invariants
//
//   - Packets in one direction of a link keep their order, as on a wire.
//   - The seed, the link and the number of a packet decide whether it is lost. The kernel decides
//     when it arrives.
//   - A change of a Link takes effect at once, also for packets on their way: a cut loses them.
//   - Nothing stays behind. A namespace exists as long as a thread or process is in it. The threads
//     belong to this process, and the processes that it starts on a host die with it, even if it
//     crashes.
//
// # Limits
//
// Linux and IPv4 only. Making a namespace needs root, or the right to make a user namespace
// (Reexec). The hosts share the kernel, the clock, process numbers and files; each has only its
// network and its name for itself. Bandwidth isn't limited.
package hosts
