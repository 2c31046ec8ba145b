// Package guard is the parent of an agent. It says for certain that the agent is dead, and with it
// all processes that it had started.
//
// An agent that is killed can't say so. Its connection breaks, which may mean anything; its
// launcher would have to wait until its lease is over. But a host's kernel tells a parent when its
// child has ended. So "banyan agent" and "banyan start-agent" begin as a guard, which starts the
// same command once more: that is the agent.
//
//	guard ("banyan-guard")   adopts what the agent leaves (PR_SET_CHILD_SUBREAPER)
//	└ agent ("banyan")       gets SIGTERM when the guard dies, and ends in order
//	  └ processes of the job get SIGKILL when the agent dies
//
// The agent tells the guard who its launcher is ([Agent.Charge]). If the agent ends without having
// said that it ends in order ([Agent.Done]), the guard kills whatever the agent leaves, also what
// the processes have started, and reaps it. When the kernel says that nothing is left, the guard
// tells the launcher. It has connected to that before, with the agent's key, up to a second after
// the agent's word; or else, and if that connection has broken, it connects now.
//
// An agent that knows that it will end may leave something to do after its end ([Agent.Leave]): the
// kernel gives it no time for that itself when its lease is over. [Run] returns it.
//
// # Invariants
//
//   - The guard testifies only after the kernel has said that no descendant of it lives.
//   - The guard ends with the agent's exit code, and never before the agent.
//
// # Limits
//
// A connection to the launcher that breaks while the agent lives isn't made again before the agent
// names its launcher anew, or dies: then it takes some milliseconds more.
//
// If guard and agent are killed at the same time nobody testifies, and the launcher waits for the
// lease. A process that hangs in the kernel keeps the guard from testifying.
package guard
