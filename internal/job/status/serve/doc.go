// Package serve shows a job while it runs: to browsers as a page, to programs as JSON, as a stream
// of server-sent events and in a file, and to commands that are called on deaths and heals. Package
// status, which is pure, makes what is shown.
//
//	hub.go      what the launcher tells, and all that are told: the Hub is its launcher.Watcher
//	address.go  where it listens: loopback, a unix socket, or with TLS elsewhere
//	server.go   the HTTP of it: /, /api/state, /api/events, and /metrics if the command has that
//	page.go     the page: four embedded files that become one; the same is the report as HTML
//	record.go   events as JSON lines; the command of --on-event
//	follow.go   one Hub tells another one, on another host
//	elsewhere.go  how other hosts show the job
//	control.go  requests of those who watch; trace.go the traces that they have asked for
//
// # Invariants
//
//   - The launcher never waits. What a browser can't take in time is kept up to a bound; then it is
//     cut off, comes again, and gets the whole state. Events for a file or a command have no bound:
//     they are few.
//   - Without the token nothing is answered, except over a unix socket, which only its owner may
//     open, and where the user has set the token to none.
//   - The page loads nothing: no font, script or image comes from elsewhere.
//
// # Limits
//
// The certificate of an address beyond loopback is made anew for each job and signed by nobody:
// compare its fingerprint, or use ssh -L. Traces are to be had from the launcher's page only.
package serve
