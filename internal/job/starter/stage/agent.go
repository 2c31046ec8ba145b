package stage

import (
	"path/filepath"
	"strings"

	"banyan/internal/job/agent"
)

// Agent is an agent whose processes find programs, and where they start, somewhere else than they
// were told.
type Agent struct {
	agent.Agent
	Dir      string            // where the job starts at the console
	Work     string            // and here; empty: in the same directory
	Programs map[string]string // where programs are that aren't at these paths (absolute), as at the console
	Library  string            // a directory with shared libraries; empty: none
}

// Start implements agent.Agent.
func (a *Agent) Start(specs []agent.Spec) ([]agent.Process, error) {
	there := make([]agent.Spec, len(specs))
	for i, s := range specs {
		there[i] = a.move(s)
	}
	return a.Agent.Start(there)
}

// At is the absolute path of a file at the console.
func (a *Agent) At(path string) string {
	if filepath.IsAbs(path) {
		return filepath.Clean(path)
	}
	return filepath.Join(a.Dir, path)
}

// move is a process as it starts here.
func (a *Agent) move(s agent.Spec) agent.Spec {
	if path, ok := a.Programs[a.At(s.Path)]; ok {
		s.Path = path
	} else if a.Work != "" {
		s.Path = a.At(s.Path)
	}
	env := make(map[string]string)
	if a.Work != "" {
		if rest, ok := below(a.Dir, s.Dir); ok {
			s.Dir = filepath.Join(a.Work, rest)
			env["PWD"] = s.Dir
		}
	}
	if a.Library != "" {
		env["LD_LIBRARY_PATH"] = a.Library
		for _, e := range s.Env {
			if old, ok := strings.CutPrefix(e, "LD_LIBRARY_PATH="); ok && old != "" {
				env["LD_LIBRARY_PATH"] = a.Library + ":" + old
			}
		}
	}
	if len(env) > 0 {
		var all []string
		for _, e := range s.Env {
			if name, _, _ := strings.Cut(e, "="); env[name] == "" {
				all = append(all, e)
			}
		}
		for _, name := range []string{"PWD", "LD_LIBRARY_PATH"} {
			if env[name] != "" {
				all = append(all, name+"="+env[name])
			}
		}
		s.Env = all
	}
	return s
}

// below is the path of a directory in another one, if it is there. A relative one is.
func below(dir, path string) (rest string, ok bool) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(dir, path)
	}
	rest, err := filepath.Rel(dir, path)
	return rest, err == nil && filepath.IsLocal(rest)
}
