// Package output makes the output of a replicated job look like that of one
// process per rank: every byte exactly once.
//
// Three pieces, each of one concern, stand in a row between the processes'
// pipes and the terminal:
//
//	pipe of replica 0 ─┐
//	pipe of replica 1 ─┼─ Merger (pure) ─ Collector ─┐
//	                   ┘    rank 0, stdout           ├─ Printer ─ stdout
//	…                                    rank 1 … ───┘
//
// A Merger takes what the replicas of one rank wrote, and emits one of them: that
// of the leader, the lowest replica that hasn't died. When the leader dies, the
// next one goes on where it stopped. A Collector drives a Merger from pipes, with
// back-pressure and a clock. A Printer joins the ranks line by line.
//
// # Invariants
//
//   - If the replicas of a rank write the same bytes, just these are emitted,
//     whoever dies at whatever byte, as long as one replica gets to the end.
//     If none does, the bytes of the one that got furthest are emitted.
//   - If they write different bytes, every line that is emitted is a line of one
//     replica, the n-th line emitted is its n-th line, and
//     the difference is told once. The exception is a line of which a part had to
//     be shown (a prompt) when its writer died: it is ended, and the
//     substitute's line follows whole.
//   - At most a fixed number of bytes is kept per replica. One that is further
//     ahead of the leader than that waits; one that lags is never waited for.
package output
