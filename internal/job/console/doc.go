// Package console is what lies between a running job and the people who look at it: a socket on
// which the job's launcher answers requests, and the protocol by which a console shows a job that
// runs in another process.
//
// # The socket
//
// Each job has one, NAME.sock in the user's Folder. Only processes of the same user may connect:
// the folder has mode 0700, and the peer's credentials are looked at when a connection is
// accepted. A Server answers. All that passes on a connection is Frames; the first one of both
// sides is a Hello. Then the other side either makes a request (Ask), or attaches as a console.
//
// # Consoles
//
// A Console (client.go) shows a job whose launcher is another process; a Hub (hub.go, attached.go)
// is the launcher's side. The hub takes what the ranks write, keeps what no console has
// acknowledged, and gives the launcher a stdin and the signals. A launcher needs nothing else of
// this package than the hub's Screen, its reader, its channel, Started and End.
//
//	Shown →                  what the console has of each rank's streams
//	Attach →   ← Welcome     how far the input has come
//	           ← Output      pieces of a stream, and which rank's they are, from which byte on
//	Ack →                    they were written
//	Input →    ← InputAck    at most inputWindow ahead
//	Signal →
//	           ← Started, Exit
//	Done →                   the exit code has come: the end needn't be kept
//	Beat →     ← Beat
//
// Of several consoles one is the owner, which acknowledges and sends input and signals.
//
// # What remains
//
// The end of a job that no owner has seen is kept in the folder (kept.go), and shown from there.
//
// # Adding a request
//
// A request is a name, a question and an answer, both encoded as JSON. The launcher registers a
// function with the Server of its Config (Config.Requests, which may be nil) while the job runs,
// and the command calls Ask:
//
//	console.Handle(server, "hosts add", answer)
//	// answer is func(ctx context.Context, q AddHosts, tell func(string)) (HostsAdded, error)
//
//	folder, name, err := console.Find(argument)
//	conn, err := folder.Dial(name)
//	answer, err := console.Ask[HostsAdded](ctx, conn, "hosts add", AddHosts{…}, show)
//
// The function runs on a goroutine of its own and may take as long as it needs: what it tells
// meanwhile is shown at once, and beats say that it goes on. Its context ends when the other side
// has gone or the server is closed; it must return then. It mustn't touch what the launcher's loop
// owns: it posts to the loop. An error comes to the caller as *RequestError, with its text. The
// types of question and answer stand in this package, in a file of their own, so that both sides
// have them from here. "status" is there already; its answer is an Info.
//
// # Invariants
//
//   - What isn't acknowledged is kept: it is bounded, and then the job waits.
//   - In a File every byte of a rank's stdout stands once, whichever consoles and launchers are
//     killed when (file.go). To anything else the last piece may be written again.
//   - What one launcher has shown isn't shown again by the next: a console says by rank what it
//     has.
//   - What Append wrote, Parse reads; it never panics, and no frame has more than MaxFrame bytes.
//   - Every wait for the other side ends: one that is silent for Silence is taken for gone. A
//     console whose terminal is stuck isn't silent: the job waits for it, as it would without this
//     package.
//
// # Limits
//
// A console that was continued after it had been taken for dead may lose the piece of input that
// was under way. The next launcher is sent again what the console has kept of the input: the last
// 2 MiB.
package console
