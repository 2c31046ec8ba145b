// Package oneport is the simulated driver of failure detectors: it runs their
// machines, the same that run in real processes, under the one-port model
// (Bosilca et al., "A Failure Detector for HPC Platforms", section 3.1.2), with
// crashes, loss and load.
//
// # The model
//
// A node has a port for sending and one for receiving, each of which handles one message at a
// time; both may be busy at once. A message holds the sending port of its sender and the
// receiving port of its receiver for its whole transfer, which takes a time drawn uniformly from
// (0, τ], or exactly τ. A node sends in the order in which its machine said; while the receiver
// of the first message is busy with another, all the rest wait (they could not be sent either:
// the port is one). Senders that wait for one receiver are served in the order in which they
// came. So an uncontended message takes τ at most, and messages of one pair of nodes arrive in
// order.
//
// Nodes take no time for computing. What a machine says in one call is handed to the
// port at once.
//
// # What goes wrong
//
//   - Crashes, at a time, so between any two sends of one step. What a node has begun to send
//     arrives; what it has not is lost with it. A message to a dead node takes its sender as long
//     as any other, and holds up no other node.
//   - Loss: a message vanishes at the end of its transfer, with a probability.
//   - Stops: a stopped node handles nothing, while its ports go on: messages that it receives
//     wait in its memory, messages that its machine had sent leave. When it continues it gets the
//     messages first, then the time if its deadline has come. [Load] stops nodes at random.
//
// # Costs and limits
//
// Everything follows from the seed. Time is integral; events of one instant happen in the order
// in which they were scheduled. A message costs one event and a timer one, in a radix heap
// (queue.go), and nothing is allocated once the memory has grown: a node takes 64 bytes beside
// its machine. A crashed node doesn't come back. There is no topology: all pairs of nodes are
// alike. There is no computing time but stops, and no bandwidth: all messages are small.
package oneport
