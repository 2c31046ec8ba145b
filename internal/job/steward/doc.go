// Package steward runs the machine by which the agents of a job decide together (package
// proto/steward): on the clock that goes on while a host sleeps, over connections between the
// agents. A Driver is one party. It tells its Party when it may act, when it leads, and which hosts
// are lost; decision 40 has the table.
//
// # Connections
//
// Each party dials those to which it has something to say, and takes connections of others: one in
// each direction. Both sides prove that they hold the job's key (package secure). Messages may be
// lost with a connection, or when one is too slow: the machine repeats what matters.
//
// A witness that is files (Directory) is asked by calls of the file system, one at a time, on a
// goroutine of their own. If such a call hangs nothing waits for it, not even Close.
//
// # Invariants
//
//   - One goroutine calls the machine. It waits for no connection, and no file system.
//   - The Party is told of each action in its order, on that goroutine, before the next call. What
//     the machine sends after Extend or Kill leaves after the Party has returned from these.
//
// # Limits
//
// The ledger is sent as a whole to each voter. A voter that is
// started again must be another Host, as the machine demands.
package steward
