package join

import (
	"os"

	"banyan/internal/job/control"
	"banyan/internal/job/env"
	"banyan/internal/proto/verify"
	"banyan/internal/runtime/process"
)

// codeCorrupted is the exit code where nobody can say whose data is right, as in package
// launch.
const codeCorrupted = 125

// verify has what replicas send compared, if the environment asks for it.
func (j *Job) verify(cfg *process.Config) {
	if os.Getenv(env.Verify) == "true" {
		cfg.Corrupted = func(c process.Corruption) { go j.corrupted(c) } // it is called from within the engine
	}
}

// corrupted acts on a silent corruption. Under a launcher that kills who is wrong; under
// another one this process stops if it is the one, or tells the others.
func (j *Job) corrupted(c process.Corruption) {
	switch {
	case c.Kind == verify.Undecided:
		j.Abort(codeCorrupted, c.String())
	case j.control != nil:
		for _, q := range c.Procs {
			j.control.Send(control.Message{Type: control.Corrupted, Proc: q, Text: c.String()})
		}
	case c.Kind == verify.Outnumbered:
		j.stop(c.String())
	default:
		j.log.Warn(c.String(), "self", int(j.self))
		for i, q := range c.Procs {
			j.Engine.Evidence(q, c.Incarnations[i])
			if j.mesh != nil {
				j.mesh.Tell(q)
			}
		}
	}
}
