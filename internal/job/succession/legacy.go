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
	Estate fleet.Estate
	First  *steward.Ledger // with which agents begin to take part
	Voters int
	Files  string // of the witness, or empty: see charter
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
	Input                 bool   // consoles send the job's input
	File                  File   // else it is in this file
	Batch                 string // the number of Slurm's job in which it was started; empty: in none
	Shown                 *Shown // to those who watch the job; nil: nobody does
}

// Shown says how a job is shown beside its consoles.
type Shown struct {
	Settings        []byte // by which agents show it
	Counted         bool   // the processes count
	Events, OnEvent string // a file, and a command; empty: none
}

// state is the launcher's.
func (l *Legacy) state() (*launcher.State, error) { return launcher.DecodeState(l.State) }
