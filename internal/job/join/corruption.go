package join

import (
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
		j.Abort(codeCorrupted, c.String())
		return
	}
	j.supervisor.corrupted(c)
}
