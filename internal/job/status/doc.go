// Package status is what people may know of a job while it runs, and afterwards: the state of each
// process and host, what happened when, rates, and what processes wait for. It is pure: it has no
// clock, goroutine or I/O.
//
// The launcher tells a Tracker what it sees (Observe) and what the processes have counted (Sample).
// The Tracker makes a State of that, and the Events that lead from one State to the next. Package
// serve shows both: on a page, as JSON, as metrics, in a file.
//
// # The format
//
// A State as JSON is the answer to /api/state and what the page reads; docs/guide/status.md
// documents it. Times are in seconds since the start of the job. Fields may be added; a number that
// means something else needs another Format.
//
// # Invariants
//
//   - An Event has all changes of slots since the one before (Event.Set). So the slots at the time
//     of an Event are State.Base with the changes of all events up to it: a reader needs to know
//     nothing of what the events mean. Times of events never fall.
//   - Numbers of events rise by one, in the order in which the launcher saw what happened.
//   - A State is bounded: of events and of rates the last ones are kept.
//
// # Limits
//
// An event comes when the launcher knows of it. A process that counts nothing, such as one that
// isn't an MPI program, has no counters. Whether ranks wait in a circle is judged by the first rank
// of each process's list of waits; a process that waits for any rank is in no circle.
package status
