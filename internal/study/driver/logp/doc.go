// Package logp is the simulated driver: it runs protocol machines, the same that
// run in real processes, in the time of the LogP model (Culler et al.; Küttler
// et al., section 2.2).
//
// # The model
//
// Sending takes a process the overhead o, then the message travels for the
// latency L, then receiving takes its receiver o. The gap g is o: a process
// sends one message directly after the other. Sending and receiving overlap on
// a process; receives of one process are serial, in the order of arrival. Time
// is integral.
//
// At one instant, in this order:
//
//  1. receives end: the machine handles the message;
//  2. messages arrive, in the order in which they were sent: at an idle receiver the receive
//     begins, else the message waits; at a dead process it vanishes;
//  3. processes whose last send is over, or that have handled a message, or all (at the start,
//     and at the machines' deadline), send their next message, in the order of their numbers.
//
// This order is not arbitrary: with it all rows of the reference data come out
// exactly (testdata/logp-broadcast.csv, on which two independent simulators
// agree).
//
// # More than plain LogP
//
// A [Case] may have [Crash]es on the way: before a process's N-th send, or at a step, before
// any other event of that instant. A message that a process has begun to send is sent, and one
// that it is receiving is lost. So every prefix of its actions is possible.
//
// Its [Model] may have a gap g > o, between the beginnings of two sends of a process and
// between those of two receives. It may have [Nodes], within which messages have another
// latency, and which can fail as a whole. And it may have noise.
//
// # Layers
//
// [Network] is plain LogP, for any [Machines]; [Detailed] is the rest of the model, and does the
// same as a Network, event for event, where a case has none of it. [Simulator] runs one
// broadcast, a Case, on the simpler one that suffices and reports what happened: in an [Outcome],
// to a [Listener], in a trace. [Table] reads and writes cases and their outcomes as CSV.
// [GossipSearch] finds out for how long to gossip.
//
// # Costs and limits
//
// Nothing is allocated for an event once the memory has grown. In a Network every stage of a
// message takes the same time for all messages, so that those sent at one instant stay together
// and need one queue. A Detailed schedules each event, and takes about twice as long. A crashed
// process doesn't come back, and the root never crashes.
package logp
