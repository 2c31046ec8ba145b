// Package tool is the state of MPI's tool information interface (MPI 5.0, chapter 15): variables
// that a tool reads, and events that it hears of. Package binding gives it its C faces, MPI_T_*.
//
// A Control is a setting of the job, a Performance is something that the process counts anyway, and
// an EventType is a kind of thing that happens to the job as a whole, such as a death. Each belongs
// to a category.
//
// # Invariants
//
//   - Reading a variable costs the path of messages nothing: what is counted is counted anyway, and
//     is asked for only when a tool reads.
//   - What one session of a tool starts, stops or resets doesn't show in another session: a handle
//     keeps its own base.
//   - Events of a registration come in the order in which they happened, from one goroutine.
//
// # Limits
//
// No variable is bound to an object such as a communicator. Events are delivered to callbacks that
// may be called from any thread (MPI_T_CB_REQUIRE_THREAD_SAFE or more); others hear only that
// events were dropped. Categories and variables never change while the process lives.
package tool
