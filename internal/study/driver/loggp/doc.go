// Package loggp drives processes in LogGP time (Alexandrov, Ionescu, Schauser, Scheiman, SPAA '95):
// messages of many bytes between many processes, each of which has one processor and one port.
//
// # The model
//
// A frame of s bytes that a process hands to its port at time t leaves when the port is free. It
// occupies the port for max(g, s·G), and arrives L + s·G after it began to leave. The receiver's
// port takes one frame at a time as well, in the order in which their first bytes come: it's
// occupied for max(g, s·G), and then takes the next one. The overhead o is the processor's, and so
// the business of a Node, which knows what it does: it hands a frame over when it has spent o, and
// spends o on a frame that it takes. Frames of one process to another arrive in the order in which
// they were sent.
//
// # Windows
//
// No frame arrives sooner than L after it was sent. So time is cut into windows of L: what a node
// does in one concerns no other node before the next. Within a window the nodes act one after the
// other, each until the window's end, in any order and on several cores; the outcome doesn't
// depend on that. A node finds its frames in the order of their arrival, those of one instant in
// the order of their senders, those of one sender in the order in which they were sent.
//
// A node sleeps until the time that it named or the next frame, whichever is first. It may say that
// it listens to no frame before some time (Port.Ignore), because it computes, or that a few change
// nothing that others could see (Port.Await). And it may go on beyond the window's end with what no
// frame can change. Then it acts less often, which is what makes large networks fast: each time its
// memory has to come from far away. Since it finds when each frame arrived, it does what it would
// have done then.
//
// # Memory
//
// Of many nodes none is in a cache when it acts, and what it sends goes to ports that aren't
// either. So a worker asks for the memory of the nodes to come while others act (Fetcher), and
// brings frames to ports some at a time, between two acts, when it has asked for all those ports
// (decision 72). Neither changes an outcome.
//
// # Limits
//
// All pairs of processes have the same latency, and each process a port of its own: hosts whose
// processes share one aren't modelled, nor are the links inside the network. Time is integral, in
// nanoseconds. A process takes about 200 bytes here, and 64 for each frame that waits.
package loggp
