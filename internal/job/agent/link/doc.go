// Package link carries streams of bytes between two sides over connections that come one after the
// other. When a connection breaks, the streams wait for the next one and go on by their offsets:
// not a byte comes twice, and none is missing.
//
// Both sides have the same code. Each makes an [Out] for what it sends on a stream and an [In] for
// what it receives, under the same wire.Stream, and calls [Link.Carry] with each connection.
//
// # Flow
//
// The sender keeps what the receiver hasn't passed on: what an In has given to a Read counts as
// passed on when the next Read begins. It keeps at most [Window] bytes; then a bounded Out makes
// its writer wait. An unbounded one, which is for rare messages, keeps all, and sends no more than
// Window bytes ahead.
//
// When a connection begins, both sides tell how far their In's have come (Resume), and send from
// there on.
//
// An In that keeps (Keep) acknowledges only what was released: the other side is the only place
// where what wasn't released is safe. When the other side's place is taken by another party,
// Restart keeps those streams that go on, and ends all others.
//
// # Invariants
//
//   - A Read gives the bytes of the Writes, in their order, each once, and then io.EOF if the Out
//     was closed.
//   - A side holds at most Window bytes of what the other side sends on a stream, or it ends the
//     connection.
//   - Nothing waits for the network but Write of a bounded Out, Read and the methods named Await.
//
// # Limits
//
// The state of finished streams stays until the Link ends, some hundred bytes each. The connection
// must be authentic: Link checks that frames make sense, not who sends them.
package link
