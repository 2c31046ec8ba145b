package console

import "time"

// States of a job.
const (
	Starting = "starting"
	Running  = "running"
	Ending   = "ending"
	Ended    = "ended"
)

// Info describes a job. It is the answer to the request "status".
type Info struct {
	Name      string    `json:"name"`
	Command   []string  `json:"command"`
	Begun     time.Time `json:"begun"`
	PID       int       `json:"pid"`       // of the launcher
	Launcher  string    `json:"launcher"`  // the host on which that runs
	State     string    `json:"state"`     // one of the states
	Processes int       `json:"processes"` // that run
	Hosts     int       `json:"hosts"`     // that aren't lost
	Consoles  int       `json:"consoles"`  // that show it now
	Own       bool      `json:"own"`       // only the console that has started it can show it
	ExitCode  int       `json:"exit_code"` // if it has ended
	// Spawned are the jobs that it has spawned, and those that they have, which run.
	Spawned []Spawned `json:"spawned,omitempty"`
	// Reach is where consoles look for the next launcher if this one is lost. nil: nowhere.
	Reach *Reach `json:"reach,omitempty"`
}
