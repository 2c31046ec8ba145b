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
//  3. processes whose last send is over, or who have handled a message, or all (at the start, and
//     at the machines' deadline), send their next message, in the order of their numbers.
//
// This order is not arbitrary: with it all rows of the reference data come out
// exactly (testdata/logp-broadcast.csv, on which two independent simulators
// agree).
//
// # Layers
//
// [Network] is the model, for any machines. [Simulator] runs one broadcast, a
// [Case], on it and says what happened. [Table] reads and writes cases and
// their outcomes as CSV.
//
// # Costs and limits
//
// Nothing is allocated for an event once the queues have grown. Since every stage
// of a message takes the same time for all messages, the event queue is three
// plain queues: no heap. Processes are dead from the start or live for ever.
package logp
