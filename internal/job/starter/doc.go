// Package starter starts an agent on another host: by ssh, by srun, or by any command that the user
// names.
//
// The console runs a command such as "ssh h3 banyan start-agent". That command, on h3, is the
// follower (follow.go). They talk over its stdin and stdout:
//
//	console                    follower
//	                        ←  hello
//	order, job key          →
//	                        ←  ready, or failed and why
//
// Then the follower is the agent: it dials the console (package remote). What it writes to stderr
// the console shows, with the host's name. The job key goes by stdin, never by an argument or a
// variable.
//
// # Invariants
//
//   - A failure that may pass (a connection that isn't accepted) is tried again, after a random
//     wait. What the follower itself refuses isn't.
//   - Run returns when the command has ended and all that it wrote was passed on.
//
// # Limits
//
// The console runs one command for each host. Programs aren't sent: they must be there.
package starter
