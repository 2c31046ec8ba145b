// Package hosts makes several hosts of one, for tests: each is a network
// namespace with a name of its own, and the packets between them go through the
// test process, which can cut, delay and lose them.
//
// A Network holds the hosts. Each has one interface, a TUN device at 10.77.0.1,
// 10.77.0.2, …, whose other end is a descriptor of this process: what a host
// sends is read from one descriptor and, if its Link lets it through, written to
// another. So nothing is needed of the kernel but namespaces and TUN, neither
// bridges nor packet filters nor a queueing discipline, and the processes of the
// program under test use the kernel's own TCP, with its retransmissions.
//
// # Invariants
//
//   - Packets of one direction of a link keep their order, as on a wire.
//   - Whether a packet is lost is drawn from the seed, the link and the number of
//     the packet; when a packet comes is the kernel's business.
//   - A Link changes at once, also for packets that are on their way: a cut loses
//     those too.
//   - Nothing stays behind. A namespace lives as long as a thread or process is
//     in it. The threads are this process's, and the processes started on a host
//     die with it, also if it crashes.
//
// # Limits
//
// Linux; version 4 of IP. Making a namespace needs root, or the right to make a
// user namespace (Reexec). The hosts share kernel, clock, process numbers and
// files: what is of a host is its network and its name. Bandwidth isn't limited.
package hosts
