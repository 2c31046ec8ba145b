package launcher

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Part is one program of a job, and how many of the job's ranks run it.
type Part struct {
	Ranks   int // at least 1
	Program string
	Args    []string
	// Env is the environment to start from. The job's own variables replace those of the same
	// name.
	Env []string
	// Dir is the directory to start in, empty for the launcher's.
	Dir string
}

// part is a checked Part.
type part struct {
	Part
	path string // of the program
	end  int    // the first rank after it
}

// argv is the program and its arguments.
func (p *part) argv() []string { return append([]string{p.Program}, p.Args...) }

// divide gives the ranks to the programs, in the order of these.
func (p *plan) divide() error {
	ranks := 0
	for i, x := range append([]Part{{p.Ranks, p.Program, p.Args, p.Env, p.Dir}}, p.More...) {
		switch {
		case x.Ranks < 1:
			return fmt.Errorf("a job has at least 1 rank%s, not %d", map[bool]string{true: " of each program"}[len(p.More) > 0], x.Ranks)
		case x.Ranks > MaxProcs:
			return fmt.Errorf("%d ranks are more than %d processes", x.Ranks, MaxProcs)
		case x.Program == "" && i > 0:
			return fmt.Errorf("program %d of the job isn't given", i+1)
		case x.Program == "":
			return errors.New("no program is given")
		}
		ranks += x.Ranks
		p.parts = append(p.parts, part{Part: x, end: ranks})
	}
	p.ranks = ranks
	return nil
}

// part is the part that a rank runs.
func (p *plan) part(rank int) *part { return &p.parts[p.partIndex(rank)] }

// partIndex is the number of that part.
func (p *plan) partIndex(rank int) int {
	for i := range p.parts {
		if rank < p.parts[i].end {
			return i
		}
	}
	panic(fmt.Sprintf("launcher: rank %d of %d", rank, p.ranks)) // divide has counted them
}

// command is the command line of all programs.
func (p *plan) command() (words []string) {
	for i := range p.parts {
		if i > 0 {
			words = append(words, ":")
		}
		words = append(words, p.parts[i].argv()...)
	}
	return words
}

// find looks the program up as a shell does: in PATH, or, if its name has a slash, relative to the
// directory in which it starts.
func (p *part) find() error {
	if p.Dir != "" {
		if info, err := os.Stat(p.Dir); err != nil || !info.IsDir() {
			return &StartError{CodeUsage, fmt.Errorf("%s is no directory to start in", p.Dir)}
		}
	}
	name := p.Program
	if p.Dir != "" && strings.Contains(name, "/") && !filepath.IsAbs(name) {
		dir, err := filepath.Abs(p.Dir)
		if err != nil {
			return &StartError{1, err}
		}
		name = filepath.Join(dir, name)
	}
	path, err := exec.LookPath(name)
	if errors.Is(err, exec.ErrNotFound) && !strings.Contains(name, "/") {
		// Other libraries' mpiexec take the program in the directory where it starts, and scripts
		// rely on that.
		if here, e := exec.LookPath(cmp.Or(p.Dir, ".") + "/" + name); e == nil {
			path, err = here, nil
		}
	}
	switch {
	case err == nil:
		if p.Dir != "" { // PATH may be relative, and the process starts elsewhere
			path, err = filepath.Abs(path)
		}
		p.path = path
		return err
	case errors.Is(err, fs.ErrPermission):
		return &StartError{CodeNotExecutable, fmt.Errorf("%s can't be executed: %w", p.Program, errors.Unwrap(err))}
	case errors.Is(err, exec.ErrNotFound), errors.Is(err, fs.ErrNotExist):
		return &StartError{CodeNotFound, fmt.Errorf("%s: there is no such program", p.Program)}
	case errors.Is(err, exec.ErrDot):
		return &StartError{CodeNotFound, fmt.Errorf("%s: say ./%s for the one in this directory", p.Program, p.Program)}
	}
	return &StartError{CodeNotExecutable, fmt.Errorf("%s can't be executed: %w", p.Program, err)}
}
