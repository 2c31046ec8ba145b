// Package remote is the agent of another host: [Remote] stands for it in the launcher, and [Serve]
// is what "banyan agent" does there, over an agent.Local.
//
// # A connection
//
// The agent dials the launcher, so that only the launcher needs a port (listener.go, dial.go).
// Both prove that they hold the job's key (package secure) and tell their versions and builds
// (Hello and Welcome). Then package link carries streams over the connection: one with messages of
// launcher and agent (package wire), and for each process its lifeline, its PMI connection, and
// what it reads and writes. If the connection breaks the agent dials again, and all streams go on
// where they were.
//
//	the launcher's side   listener.go greet.go remote.go process.go streams.go
//	another launcher      adopt.go successor.go facts.go relay.go
//	the agent's side      serve.go dial.go commands.go served.go patrol.go
//
// # When a host is lost
//
// A broken connection is a hint. The launcher holds the processes of a host for dead only when the
// agent has said that it killed them all, when its parent has said that it died with them
// ([Testimony]), or when each lease that it granted to the agent is certainly over (package
// lease). An agent without a lease kills its processes and ends; if it is stopped its kernel does
// (package deadline).
//
// # When a launcher is lost
//
// An agent that has Config.Next stays when its launcher has gone, as long as its lease lets it. A
// launcher of a higher term takes over: its Listener has Options.Adopt, the agent dials it, and
// [Remote.Adopt] says which processes there are. Their output goes on where the launcher before has
// released it (agent.Kept). What they have said on their lifelines is told again, and so is the
// question that each has asked PMI. From then on the agent refuses the launcher before.
//
// # Invariants
//
//   - What a process writes and says comes once, in order, and so does what it is sent, however
//     often the connection breaks. What the launcher hasn't passed on the agent keeps: at most
//     link.Window bytes of a stream, then the process has to wait.
//   - The agent carries out each command once. It refuses commands of an older term than one that
//     it has heard.
//   - An agent ends when the launcher says so, when its lease is over, or when it is told to by a
//     signal. Then none of its processes is left.
//
// # Limits
//
// If an agent and its parent (package guard) are killed at once the launcher learns it only by the
// lease. A launcher that is stopped for longer than the lease loses its hosts.
package remote
