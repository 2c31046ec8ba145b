package peers

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// Variable stands for the library's name in a Program's command.
const Variable = "{lib}"

// Program is any program that was built for each library.
type Program struct {
	// Command is the program with its arguments, as a shell reads it. Variable in it is the name
	// of the library that the program was built for.
	Command string
	Procs   int
}

func (p Program) String() string { return fmt.Sprintf("%s, %d processes", p.Command, p.Procs) }

// Programs measures programs beside each other. Their time is that of the whole job, by the clock
// on the wall: start, run and end.
type Programs struct {
	Libraries []Library
	// Limit ends a job that takes longer.
	Limit time.Duration
}

// ProgramResult is what was measured of a program, in nanoseconds.
type ProgramResult struct {
	Program
	Comparison
}

// Run runs programs in so many rounds. It calls progress after each run. A program that fails in
// one library ends it all, as its time would mean nothing.
func (b *Programs) Run(ctx context.Context, programs []Program, rounds int, progress func()) ([]ProgramResult, error) {
	times, err := alternate(len(programs), len(b.Libraries), rounds, func(int) error { return nil }, func(i, library int) (float64, bool, error) {
		took, err := b.once(ctx, library, programs[i])
		progress()
		return float64(took), true, err
	})
	if err != nil {
		return nil, err
	}
	var results []ProgramResult
	for i, p := range programs {
		results = append(results, ProgramResult{p, compare(b.Libraries, times[i])})
	}
	return results, nil
}

// once runs a program of one library.
func (b *Programs) once(ctx context.Context, library int, p Program) (time.Duration, error) {
	l := b.Libraries[library]
	ctx, cancel := context.WithTimeout(ctx, b.Limit)
	defer cancel()
	line := "exec \"$@\" " + strings.ReplaceAll(p.Command, Variable, l.Name)
	args := append(append([]string{"-c", line, "sh"}, l.Exec...), strconv.Itoa(p.Procs))
	cmd := command(ctx, l.Env, "sh", args...)
	var output tail
	cmd.Stdout, cmd.Stderr = &output, &output
	begin := time.Now()
	err := cmd.Run()
	took := time.Since(begin)
	switch {
	case errors.Is(ctx.Err(), context.DeadlineExceeded):
		return took, fmt.Errorf("%s, %v: it has taken longer than %v", l.Name, p, b.Limit)
	case err != nil:
		return took, fmt.Errorf("%s, %v: %w\n%s", l.Name, p, err, strings.TrimSpace(string(output)))
	}
	return took, nil
}

// tail keeps the end of a program's output: what it says before it fails.
type tail []byte

const tailMost = 2000

func (t *tail) Write(p []byte) (int, error) {
	*t = append(*t, p...)
	if over := len(*t) - tailMost; over > 0 {
		*t = append((*t)[:0], (*t)[over:]...)
	}
	return len(p), nil
}

// Installed divides libraries into those that this machine has, and the names of the others.
func Installed(libraries []Library) (have []Library, missing []string) {
	for _, l := range libraries {
		if _, err := exec.LookPath(l.CC); err != nil {
			missing = append(missing, l.Name)
			continue
		}
		have = append(have, l)
	}
	return have, missing
}
