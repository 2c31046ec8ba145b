package succession

import (
	"banyan/internal/job/console"
	"banyan/internal/job/fleet"
	"banyan/internal/job/launcher"
	"banyan/internal/proto/steward"
)

// Legacy is what a launcher leaves to the next one.
type Legacy struct {
	State  []byte   // launcher.State
	Agents []member // by the launcher's numbers
	Homes  fleet.Homes
	Will   Will
}

// member is an agent.
type member struct {
	Host     steward.Host
	Number   int // inside: it is in the first launcher's process
	Instance uint64
}

// inside is the number of an agent in the first launcher's process.
const inside = -1

// Will is what is to be done with a job's output and end. Paths are absolute.
type Will struct {
	Info                  console.Info
	Output, Error, Report string // files; empty: none
	Input                 bool   // consoles send the job's input; else it ends with the first launcher
}

// state is the launcher's.
func (l *Legacy) state() (*launcher.State, error) { return launcher.DecodeState(l.State) }
