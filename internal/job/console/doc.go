// Package console is what lies between a running job and the people who look at it: a socket on
// which the job's launcher answers requests, and the protocol by which a console shows a job that
// runs in another process.
//
// # The socket
//
// Each job has one, NAME.sock in the user's Folder. Only processes of the same user may connect:
// the folder has mode 0700, and the peer's credentials are looked at when a connection is accepted.
// A Server answers. All that passes on a connection is Frames; the first one of both sides is a
// Hello. Then the other side either makes a request (Ask), or attaches as a console.
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
//   - What Append wrote, Parse reads; it never panics, and no frame has more than MaxFrame bytes.
//   - Every wait ends: a side that is silent for Silence is taken for gone.
package console
