package join

import (
	"banyan/internal/job/check"
	"banyan/internal/proto"
	"banyan/internal/runtime/engine"
)

// checking is what "banyan check" wants of this process. Its zero value wants nothing.
type checking struct {
	calls   *check.Recorder // nil unless the program's calls are recorded
	perturb uint64          // seed of the delays
}

func readChecking(self proto.Proc) (c checking, err error) {
	c.calls, c.perturb, err = check.FromEnv(self)
	return c, err
}

// apply completes the configuration of an engine.
func (c checking) apply(cfg *engine.Config) {
	cfg.Process.Perturb = c.perturb
	if c.calls != nil { // an interface that holds a nil pointer wouldn't be nil
		cfg.Calls = c.calls
	}
}

// end ends the record.
func (c checking) end() {
	if c.calls != nil {
		c.calls.End()
	}
}

// Line is the source line of a return address, or its function if the file has no lines. An address
// in no file has none.
func Line(file string, linked uint64) string {
	if file == "" {
		return ""
	}
	return check.Line(check.Address{File: file, Linked: linked})
}

// LocateCalls lets a program that isn't in Go say where it is when it calls. here returns the
// return address of the present call, as the linker placed it in a file, or no file. It is called
// on the program's threads, on one at a time. LocateCalls returns false if here is never called,
// since this job isn't being checked.
func (j *Job) LocateCalls(here func() (file string, linked uint64)) (checked bool) {
	if j.checking.calls == nil {
		return false
	}
	j.checking.calls.SetLocator(func() string {
		file, linked := here()
		if file == "" {
			return ""
		}
		return check.Address{File: file, Linked: linked}.String()
	})
	return true
}
