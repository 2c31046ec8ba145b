package steward

import (
	"fmt"
	"log/slog"
	"time"

	"banyan/internal/job/agent/deadline"
	"banyan/internal/proto"
	"banyan/internal/proto/steward"
)

// Files are those of a witness, in a Directory.
type Files interface {
	// Path says where they are, for the user.
	Path() string
	// Call does what a steward.FileWitness wants, however long that takes. The error is why its
	// outcome is steward.FileUnknown.
	Call(c *steward.FileCall) (steward.FileResult, error)
}

// slowFiles is how long a call of the file system may take before somebody is told. Nothing else
// follows from it: answers to old questions count for nothing anyway.
const slowFiles = 3 * time.Second

// files is this party's copy of the witness, with the calls that it makes. It is the loop's.
type files struct {
	d      *Driver
	copy   *steward.FileWitness
	warned chan struct{} // full: Config.Note was called
}

func newFiles(d *Driver) *files {
	c := &d.cfg
	// No party comes again under the same number: it is its name as a writer, too.
	w := steward.NewFileWitness(deadline.Now(), c.First.Witness, uint64(c.Machine.Self), c.First)
	return &files{d, w, make(chan struct{}, 1)}
}

func (f *files) ask(m *steward.Message) { f.begin(f.copy.Ask(m)) }

// begin makes a call, if there is one, and hands its end to the loop.
func (f *files) begin(c *steward.FileCall) {
	if c == nil {
		return
	}
	go func() { // Driver.Close doesn't wait for it
		slow := time.AfterFunc(slowFiles, func() { f.warn(fmt.Errorf("it has said nothing for %v", slowFiles)) })
		r, err := f.d.cfg.Files.Call(c)
		slow.Stop()
		if err != nil {
			slog.Debug("steward: witness directory", "self", f.d.cfg.Machine.Self, "number", c.Number, "makes", c.Make != nil, "err", err)
			f.warn(err)
		}
		f.d.call(func(now proto.Time, out *[]steward.Action) { f.begin(f.copy.Ended(now, c, r, out)) })
	}()
}

// warn tells that the witness doesn't vote, once.
func (f *files) warn(err error) {
	note := f.d.cfg.Note
	if note == nil || f.d.ctx.Err() != nil {
		return
	}
	select {
	case f.warned <- struct{}{}:
		note(fmt.Sprintf("the witness directory %s doesn't vote: %v", f.d.cfg.Files.Path(), err))
	default:
	}
}
