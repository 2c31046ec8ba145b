package bench

import (
	"context"
	"fmt"
	"io"
	"os/exec"
	"strings"

	"banyan/bench/peers"
	"banyan/cmd/banyan/internal/progress"
	"banyan/internal/study/table"
)

// Programs of users under "banyan bench mpi".

func (f *mpiFlags) checkPrograms() error {
	for _, program := range f.programs {
		if !strings.Contains(program, peers.Variable) {
			return fmt.Errorf("--program %q: write %s where the name of the library belongs, as in './solver-%[2]s 500': a program built for one library doesn't run with another", program, peers.Variable)
		}
	}
	for _, n := range f.procs {
		if n < 1 || n > 4096 {
			return fmt.Errorf("--procs %d: 1 to 4096", n)
		}
	}
	if f.limit <= 0 {
		return fmt.Errorf("--limit %v: it must be positive", f.limit)
	}
	return nil
}

func (f *mpiFlags) runPrograms(ctx context.Context, out io.Writer, libraries []peers.Library) error {
	var programs []peers.Program
	for _, command := range f.programs {
		if err := built(command, libraries); err != nil {
			return err
		}
		for _, n := range f.procs {
			programs = append(programs, peers.Program{Command: command, Procs: n})
		}
	}
	b := &peers.Programs{Libraries: libraries, Limit: f.limit}
	bar := progress.NewLong(f.rounds*len(programs)*len(libraries), "jobs")
	results, err := b.Run(ctx, programs, f.rounds, bar.Step)
	bar.Clear()
	if err != nil {
		return unmeasured(ctx, err)
	}
	if err := table.Write(out, f.format, programColumns(libraries), results); err != nil {
		return err
	}
	if f.format == table.Text {
		fmt.Fprintf(out, "\nTimes in seconds of whole jobs, start included: medians of %d rounds.\n", f.rounds)
		compared := make([]peers.Comparison, len(results))
		for i, r := range results {
			compared[i] = r.Comparison
		}
		writeMean(out, compared)
	}
	return nil
}

// built tells which library's program is missing, before anything is measured. It looks only at
// commands that begin with the program's name.
func built(command string, libraries []peers.Library) error {
	name := strings.Fields(command)[0]
	if !strings.Contains(name, peers.Variable) || strings.ContainsAny(name, "'\"$`\\") {
		return nil
	}
	for _, l := range libraries {
		program := strings.ReplaceAll(name, peers.Variable, l.Name)
		if _, err := exec.LookPath(program); err != nil {
			return fmt.Errorf("--program: there is no program %s: build it with %s, or leave %s out with --library", program, l.CC, l.Name)
		}
	}
	return nil
}

// programColumns are the columns of the table: times in seconds.
func programColumns(libraries []peers.Library) []table.Column[peers.ProgramResult] {
	columns := []table.Column[peers.ProgramResult]{
		table.Col("program", func(r *peers.ProgramResult) any { return r.Command }),
		table.Col("procs", func(r *peers.ProgramResult) any { return r.Procs }),
	}
	for i, l := range libraries {
		columns = append(columns, table.Col(l.Name+"_s", func(r *peers.ProgramResult) any { return known(r.Times[i].Median / 1e9) }))
	}
	return append(columns, ratioColumns(func(r *peers.ProgramResult) *peers.Comparison { return &r.Comparison })...)
}
