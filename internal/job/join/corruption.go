package join

import (
	"banyan/internal/job/env"
	"banyan/internal/proto/verify"
	"banyan/internal/runtime/process"
)

// codeCorrupted is the exit code where no process can tell whose data is right, as in package
// launcher.
const codeCorrupted = 125

// corrupted acts on a silent corruption. A launcher kills the processes whose data is wrong.
// Without one, such a process stops, and the others tell it.
func (j *Job) corrupted(c process.Corruption) {
	if c.Kind == verify.Undecided {
		j.Abort(codeCorrupted, c.String()+" ("+j.howToLook()+")")
		return
	}
	j.supervisor.corrupted(c)
}

// howToLook says what a user does about replicas that differ. Digests have no bytes to show; banyan
// check has, in the job's own order. Memory that a program sends and has never set is what is most
// often found.
func (j *Job) howToLook() string {
	order := ""
	switch o := j.order; {
	case o.Auto:
		order = " --order " + env.OrderAuto
	case o.Clocks:
		order = " --order " + env.OrderClocks
	case o.Leader:
		order = " --order " + env.OrderLeader
	}
	return "if it comes again, the program sends memory that it hasn't set, a time or the like: banyan check" + order + " shows calls and bytes that differ"
}
