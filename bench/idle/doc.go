// Package idle measures what a group costs that does nothing: one of package group, and one of
// hashicorp/memberlist with its configuration for a local network, both as they are by default.
//
// All members of a group live in one process, which has a network of its own if the kernel allows
// it. It founds the group, waits until all members know all others, lets them be for a while, and
// reads what the kernel says of the process and of its loopback interface. Then it ends members,
// one at a time, as a kill would: their sockets close, and they say nothing.
//
// # Invariants
//
//   - Both systems are measured by the same counters, of the kernel and of the Go runtime.
//   - Every wait is bounded. Processes die with the bench, however that ends.
//
// # Limits
//
// The two don't do the same. A member of package group is taken for dead after 1 s of silence, one
// of memberlist after some 5 s and more (a probe each second, then a suspicion). Members in
// separate processes cost more, in both systems: nobody shares a thread that is awake.
package idle
