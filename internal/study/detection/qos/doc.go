// Package qos compares failure detectors by the quality of their service: the ring of
// internal/proto/detector and the randomised one of internal/study/protocol/swim, both as the
// machines themselves, under one simulated driver (internal/study/driver/oneport) with the same
// loss and load, at an equal budget of messages for each node and second. The comparison is what
// Bosilca et al., "A Failure Detector for HPC Platforms" (RR-9024), lacks.
//
// # Metrics
//
// Chen, Toueg and Aguilera, "On the Quality of Service of Failure Detectors" (IEEE
// Transactions on Computers 51(5), 2002), define for one process that monitors
// another:
//
//   - the detection time T_D, from a crash until it is suspected for good,
//   - the mistake recurrence time T_MR, from the beginning of one wrong suspicion to
//     that of the next,
//   - the mistake duration T_M,
//   - and, following from these, the rate of mistakes 1/E(T_MR) and the query
//     accuracy probability P_A = 1 − E(T_M)/E(T_MR).
//
// Here the monitor is the group: a process is suspected while any live one
// declares it dead. T_D has two ends, the first live process that knows and the
// last. Rates are for one monitored process. A declaration is what programs
// act on: a report of death by the ring, the state "dead" in SWIM (its state
// "suspect" is internal, and counted apart).
//
// A mistake of the ring ends when its victim is fenced: it learns that it is excluded,
// stops, and the suspicion has become true. Its time under observation ends with it. A mistake
// of SWIM ends when its victim has refuted it everywhere.
//
// # Budget
//
// The ring sends one message for each node and η. SWIM sends a ping and an
// acknowledgement each period, and more under loss; its period is chosen, by pilot
// runs, such that it sends as many messages as the ring would with η. The bytes that its news
// adds aren't counted against it.
//
// # Limits
//
// Simulated time; nodes that are all alike; one size of messages. Loss is independent, message
// by message. Streams (retransmission) are a model: a lost message is late by
// Scenario.Retransmit, doubled with each further loss, and holds up those behind it;
// the retransmissions and the transport's own acknowledgements aren't counted.
// Confidence intervals are for 95 %.
package qos
