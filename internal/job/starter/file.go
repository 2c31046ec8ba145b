package starter

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"

	"banyan/internal/job/agent"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/jobdir"
	"banyan/internal/job/starter/stage"
)

// File is a file that must be the same on all hosts.
type File struct {
	Path string // absolute, or relative to the directory to start in; a companion's is relative
	Sum  string // SHA-256, in hexadecimal digits
	Mode os.FileMode
	Role Role
}

// Role is what a file is to the job.
type Role uint8

// Roles of files.
const (
	Program   Role = iota
	Companion      // what the user wants to be sent with the program
	Library        // a shared library that the program has at a place of its own
)

// here is where the file is on this host.
func (f File) here() string {
	path := f.Path
	if found, err := exec.LookPath(path); err == nil && f.Role == Program {
		path = found
	}
	return path
}

// check says what is wrong with the file here.
func (f File) check() error {
	switch sum, err := stage.Sum(f.here()); {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("there is no %s: copy it there, use a file system that all hosts share, or send it (--stage)", f.Path)
	case err != nil:
		return err
	case sum != f.Sum:
		return fmt.Errorf("%s isn't the file that the console has (SHA-256 %.12s…, and %.12s… at the console): copy it there, or send it (--stage)", f.Path, sum, f.Sum)
	}
	return nil
}

// Servable are the files by their digests, for a stage.Server of a host that has all of them.
func Servable(files []File) map[string]string {
	all := make(map[string]string)
	for _, f := range files {
		if path, err := filepath.Abs(f.here()); err == nil {
			all[f.Sum] = path
		}
	}
	return all
}

// staged is what a host has of the job's files.
type staged struct {
	directory *jobdir.Directory // nil: it had everything
	agent     stage.Agent       // without its Agent
	files     map[string]string
}

// check enters the directory, and checks that the files are those of the console.
func (o *Order) check() error {
	if err := os.Chdir(o.Dir); err != nil {
		return fmt.Errorf("programs can't start in %s: %w: use a directory that all hosts have (--wdir), or --stage, which makes one", o.Dir, errors.Unwrap(err))
	}
	for _, f := range o.Files {
		if err := f.check(); err != nil {
			return err
		}
	}
	return nil
}

// stage does so, too, and fetches what is missing. claim is told the directory, before anything is
// in it, for the case that this process dies.
func (o *Order) stage(ctx context.Context, number int, key secure.Key, claim func(dir string)) (s *staged, err error) {
	s = &staged{agent: stage.Agent{Dir: o.Dir, Programs: make(map[string]string)}}
	elsewhere := os.Chdir(o.Dir) != nil
	lacks := func(r Role) (any bool) {
		for _, f := range o.Files {
			any = any || f.Role == r && (elsewhere && !filepath.IsAbs(f.Path) || f.check() != nil)
		}
		return any
	}
	// Companions are all in one place, and libraries, too.
	work, libraries := elsewhere || lacks(Companion), lacks(Library)
	if !work && !libraries && !lacks(Program) {
		s.files = Servable(o.Files)
		return s, nil
	}
	if s.directory, err = stage.MakeDirectory(); err != nil {
		return nil, err
	}
	defer func(made *staged) { // s is nil after an error
		if err != nil {
			made.close()
		}
	}(s)
	dir := s.directory.Path
	if claim != nil {
		claim(dir)
	}
	s.files = make(map[string]string)
	from := stage.Source{Addresses: o.Stage, Key: key, Number: number}
	for i, f := range o.Files {
		at := ""
		switch {
		case f.Role == Companion && work:
			at = filepath.Join(dir, "work", f.Path)
		case f.Role == Library && libraries:
			at = filepath.Join(dir, "lib", filepath.Base(f.Path))
		case f.Role == Program && (elsewhere && !filepath.IsAbs(f.Path) || f.check() != nil):
			at = filepath.Join(dir, fmt.Sprint("program", i), filepath.Base(f.Path))
			s.agent.Programs[s.agent.At(f.Path)] = at
		default:
			s.files[f.Sum], _ = filepath.Abs(f.here())
			continue
		}
		if err := os.MkdirAll(filepath.Dir(at), 0o700); err != nil {
			return nil, err
		}
		if err := from.Fetch(ctx, f.Sum, at, f.Mode.Perm()|0o400); err != nil {
			return nil, fmt.Errorf("%s didn't come: %w", f.Path, err)
		}
		s.files[f.Sum] = at
	}
	if libraries {
		s.agent.Library = filepath.Join(dir, "lib")
	}
	if work {
		s.agent.Work = filepath.Join(dir, "work")
		if err := os.MkdirAll(s.agent.Work, 0o700); err != nil {
			return nil, err
		}
		return s, os.Chdir(s.agent.Work)
	}
	return s, nil
}

// wrap is the agent whose processes find what was staged.
func (s *staged) wrap(a agent.Agent) agent.Agent {
	if s.directory == nil {
		return a
	}
	there := s.agent
	there.Agent = a
	return &there
}

// close removes what was staged.
func (s *staged) close() error {
	if s.directory == nil {
		return nil
	}
	os.Chdir("/") // so that the directory isn't this process's
	return s.directory.Remove()
}
