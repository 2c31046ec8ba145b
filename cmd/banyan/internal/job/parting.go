package job

import (
	"fmt"
	"log/slog"
	"os"

	"banyan/internal/job/agent/guard"
	"banyan/internal/job/console"
	"banyan/internal/job/succession"
)

// leaving has an agent's parent take leave, when the agent has ended: the kernel gives the agent no
// time for that, and where files are may be out of reach.
func leaving(parent *guard.Agent) func(succession.Parting) {
	return func(f succession.Parting) { parent.Leave(string(f.Line())) }
}

// takeLeave says for an agent that its processes have ended for want of a majority: on this host to
// those who attach to the job, and in the file of the job's messages, if this host has it.
func takeLeave(line string) {
	f, err := succession.ReadParting([]byte(line))
	if err != nil {
		slog.Debug("the parting word makes no sense", "err", err)
		return
	}
	if f.Job == "" { // the agent has taken it back
		return
	}
	if folder, err := console.MakeFolder(); err == nil {
		err = folder.LeaveWord(f.Job, f.Text)
		slog.Debug("parting word", "text", f.Text, "err", err)
	}
	if _, err := os.Stat(f.Error); f.Error == "" || err != nil {
		return
	}
	screen := console.NewHub().Screen(false)
	file, err := screen.DivertTo(console.Stderr, f.Error, f.Job)
	if err != nil || file == nil {
		slog.Debug("parting: the file isn't free", "file", f.Error, "err", err) // a launcher lives, and has it
		return
	}
	screen.Note(fmt.Sprintf("banyan: %s\n", f.Text))
	file.Close()
}
