// Package demo is the command that shows in a minute what Banyan is for: it runs a program whose
// processes are killed, and compares what it prints with what it prints undisturbed.
//
// The jobs are started as a user would start them: by this command, with the command lines that it
// shows. The program is examples/cg, which an installation has below libexec.
package demo

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"banyan/cmd/banyan/internal/cli"
)

const long = `Demo solves a real system of equations (a dam's stiffness, 4,884 rows) four times, on four ranks:
undisturbed; with two processes for each rank; the same while processes of two ranks are killed;
and once more with a killed process replaced, and the one killed that gave its replacement its
state. All must print the same, to the byte: then the exit code is 0, else 1.

It takes under a minute on two cores, and no job longer than two. It leaves nothing behind.`

// limit is how long each job may take.
const limit = 2 * time.Minute

// Command returns banyan demo.
func Command() *cobra.Command {
	return &cobra.Command{
		Use:     "demo",
		Short:   "Kill processes of a program that solves equations, and get the same answer",
		Long:    long,
		Example: "  banyan demo",
		Args:    cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := cli.Interruptible(cmd.Context())
			defer stop()
			self, err := os.Executable() // the kernel has followed links
			if err != nil {
				return cli.Failed(err)
			}
			at, err := find(filepath.Dir(self))
			if err != nil {
				return cli.Failed(err)
			}
			dir, err := os.MkdirTemp("", "banyan-demo-")
			if err != nil {
				return cli.Failed(err)
			}
			defer os.RemoveAll(dir)
			s := &show{out: cmd.OutOrStdout(), err: cmd.ErrOrStderr(), banyan: self, program: at, dir: dir}
			if err := s.all(ctx); err != nil {
				if ctx.Err() != nil {
					err = ctx.Err()
				}
				return cli.Failed(cli.Stopped(err))
			}
			return nil
		},
	}
}

// program is the command line of the program that is run.
type program []string

// find looks for the program: below the prefix of an installation with this directory of programs,
// or in the source tree.
func find(bin string) (program, error) {
	prefix := filepath.Dir(bin)
	for _, p := range []struct{ program, matrix string }{
		{filepath.Join(prefix, "libexec/banyan/cg"), filepath.Join(prefix, "share/banyan/bcsstk16.mtx.gz")},
		{filepath.Join(bin, "cg"), filepath.Join(prefix, "examples/cg/data/bcsstk16.mtx.gz")},
	} {
		if there(p.program) && there(p.matrix) {
			return program{p.program, "-solves", "20", "-every", "100", p.matrix}, nil
		}
	}
	return nil, fmt.Errorf("there is no libexec/banyan/cg with its matrix in %s: is Banyan built (make build) or installed (make install) whole?", prefix)
}

func there(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// show runs the jobs.
type show struct {
	out, err io.Writer
	banyan   string
	program  program
	dir      string // for reports
}

// A result is what is known of a job when it has ended.
type result struct {
	stdout []byte
	took   time.Duration
	report report
}

// report is the part of a job's report that is looked at.
type report struct {
	Deaths []struct{} `json:"deaths"`
	Heals  []struct {
		Error string `json:"error"`
	} `json:"heals"`
}

// healed counts the replacements that came.
func (r *report) healed() (n int) {
	for _, h := range r.Heals {
		if h.Error == "" {
			n++
		}
	}
	return n
}

// all runs the four jobs.
func (s *show) all(ctx context.Context) error {
	alone, err := s.run(ctx, "A program in Go solves 20 systems of equations on four ranks, undisturbed.", "-n", "4")
	if err != nil {
		return err
	}
	s.excerpt(alone)
	twice, err := s.run(ctx, "Now every rank runs twice.", "-n", "4", "--replicas", "2")
	if err != nil {
		return err
	}
	killed, err := s.run(ctx, "Now two of the eight processes are killed while they work. Their replicas take over.", "-n", "4", "--replicas", "2",
		"--fault", "kill rank=1 replica=0 at=send:3000; kill rank=2 replica=1 at=send:5000")
	if err != nil {
		return err
	}
	s.excerpt(killed)
	healed, err := s.run(ctx, "Now a killed process is replaced, and then the one killed that gave its replacement its state.", "-n", "4", "--replicas", "2", "--heal",
		"--fault", "kill rank=1 replica=0 at=send:3000; kill rank=1 replica=1 at=send:15000")
	if err != nil {
		return err
	}
	s.excerpt(healed)
	return s.judge(alone, twice, killed, healed)
}

// run runs one job, says what it shows, and shows what it says.
func (s *show) run(ctx context.Context, what string, flags ...string) (*result, error) {
	fmt.Fprintf(s.out, "%s\n$ banyan run %s\n", what, words(append(flags, s.program...)))
	file := filepath.Join(s.dir, "report.json")
	args := append([]string{"run", "--timeout", limit.String(), "--report", file}, flags...)
	var stdout bytes.Buffer
	job := exec.CommandContext(ctx, s.banyan, append(args, s.program...)...)
	job.Cancel = func() error { return job.Process.Signal(unix.SIGTERM) } // it ends its processes
	job.WaitDelay = 10 * time.Second
	job.Stdout, job.Stderr = &stdout, s.err
	begin := time.Now()
	if err := job.Run(); err != nil {
		return nil, fmt.Errorf("the job has failed: %w", err)
	}
	r := &result{stdout: stdout.Bytes(), took: time.Since(begin)}
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &r.report); err != nil {
		return nil, fmt.Errorf("the job's report: %w", err)
	}
	return r, nil
}

// words is a command line as one types it.
func words(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		if quoted[i] = a; strings.ContainsAny(a, " ;") {
			quoted[i] = "'" + a + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// excerpt shows the first lines and the last one of what a job has printed.
func (s *show) excerpt(r *result) {
	lines := strings.Split(strings.TrimSuffix(string(r.stdout), "\n"), "\n")
	if len(lines) > 4 {
		lines = append(append(lines[:3:3], "  …"), lines[len(lines)-1])
	}
	fmt.Fprintf(s.out, "%s\n\n", strings.Join(lines, "\n"))
}

// judge compares the jobs and says what was seen.
func (s *show) judge(alone, twice, killed, healed *result) error {
	for _, r := range []*result{twice, killed, healed} {
		if !bytes.Equal(r.stdout, alone.stdout) {
			return errors.New("a job with replicas has printed something else than the undisturbed one: please report this")
		}
	}
	if n := len(killed.report.Deaths); n != 2 {
		return fmt.Errorf("2 processes were to be killed in the third job, and %d were", n)
	}
	if len(healed.report.Deaths) != 2 || healed.report.healed() < 1 {
		return fmt.Errorf("rank 1 was to be killed, healed and killed again in the fourth job: %d deaths, %d healed", len(healed.report.Deaths), healed.report.healed())
	}
	fmt.Fprintf(s.out, "All four printed the same %d lines, byte by byte; 4 processes were killed, %d came in their places.\n",
		bytes.Count(alone.stdout, []byte("\n")), healed.report.healed())
	row := func(name string, took, before time.Duration, why string) {
		fmt.Fprintf(s.out, "  %-34s %6.2f s", name, took.Seconds())
		if why != "" {
			fmt.Fprintf(s.out, "  %+.2f s: %s", (took - before).Seconds(), why)
		}
		fmt.Fprintln(s.out)
	}
	row("4 processes, undisturbed", alone.took, 0, "")
	row("8 processes, every rank twice", twice.took, alone.took, "what replicas cost on this machine's cores")
	row("8 processes, two of them killed", killed.took, twice.took, "what the deaths cost, and fewer processes save")
	row("8 processes, two killed, healed", healed.took, twice.took, "the same, with a replacement")
	return nil
}
