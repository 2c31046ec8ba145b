package succession

import (
	"encoding/json"
	"fmt"
	"os"
	"time"
)

// Parting is what an agent leaves whose lease from the voters has ended. If no majority is left
// nobody else says why the job has ended: there is no launcher, and what showed the job may have
// been lost with it. The agent can't know whether another side goes on, so it speaks of its own
// host alone.
type Parting struct {
	Job   string
	Error string // the file of the job's messages; empty: none
	Text  string // a line
}

// parting is that of this host. batch is the number of Slurm's job, if it was started in one: the
// allocation may outlive the job, and the agent mustn't end it.
func parting(job, messages, batch string) Parting {
	host, err := os.Hostname()
	if err != nil {
		host = "this host"
	}
	lease := time.Duration(machine(0, 0, 1).Lease)
	text := fmt.Sprintf("%s couldn't reach most of the machines that vote for %v, so its processes of %s were ended; if most of them reach each other the job goes on there, or else it has ended", host, lease, job)
	if batch != "" {
		text += fmt.Sprintf(", and scancel %s gives its hosts back", batch)
	}
	return Parting{job, messages, text}
}

// Line is a Parting for ReadParting.
func (f Parting) Line() []byte {
	b, err := json.Marshal(f)
	if err != nil {
		panic("succession: " + err.Error()) // it has only texts
	}
	return b
}

// ReadParting reads what Line wrote.
func ReadParting(line []byte) (f Parting, err error) {
	err = json.Unmarshal(line, &f)
	return f, err
}
