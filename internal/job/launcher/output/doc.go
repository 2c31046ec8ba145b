// Package output makes the output of a replicated job look like that of one process per rank: every
// byte appears exactly once.
//
// Three pieces stand in a row between the processes' pipes and the terminal:
//
//	pipe of replica 0 ─┐
//	pipe of replica 1 ─┼─ Merger (pure) ─ Collector ─┐
//	                   ┘    rank 0, stdout           ├─ Printer ─ stdout
//	…                                    rank 1 … ───┘
//
// A Merger takes what the replicas of one rank wrote, and emits the output of one of them: of the
// leader, the lowest replica that hasn't died. When the leader dies, the next one goes on where the
// leader stopped. A Collector drives a Merger from pipes, with back-pressure and a clock. A Printer
// joins the ranks line by line. It is Turns, which order them, and a Renderer (pure), which makes
// the text: the two are apart if the text is shown by another process.
//
// # Invariants
//
//   - If the replicas of a rank write the same bytes, exactly these are emitted, whichever replicas
//     die at whatever bytes, as long as one replica gets to the end. If none does, the bytes of the
//     replica that got furthest are emitted.
//   - If they write different bytes, every emitted line is a line of one replica, the n-th emitted
//     line is its n-th line, and the difference is told once. There is one exception: if a part of
//     a line had to be shown (a prompt) and its writer then died, the line is ended, and the
//     substitute's line follows whole.
//   - At most a fixed number of bytes is kept per replica. A replica that is further ahead of the
//     leader waits. A replica that lags is never waited for.
package output
