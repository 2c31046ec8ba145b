// Package starter starts agents on other hosts: by ssh, by srun, or by any command that the user
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
// A [Crew] starts the agents of all hosts. Package tree decides which command starts which:
//
//	up to 64 hosts     each gets a command
//	more, by ssh       32 heads do; each head starts others, and passes on their words (relay.go)
//	a step of Slurm    one command is a follower on each host, and each finds its own part
//
// The follower compares the job's files by their digests (file.go). With --stage it fetches what
// is missing, or differs, into a directory of the job (package stage), from the head that has
// started it, else from the console. The agent's parent removes it if the agent is killed.
//
// # Invariants
//
//   - A failure that may pass (a connection that isn't accepted) is tried again, after a random
//     wait. What the follower itself refuses isn't.
//   - What a head or a step doesn't bring up the console starts by itself.
//   - Crew.Run returns when all commands have ended and all that they wrote was passed on.
//
// # Limits
//
// banyan itself isn't sent: it must be there. In a step of several hosts nobody hears from the
// command that one agent has died.
package starter
