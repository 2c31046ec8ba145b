package job

import (
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"

	"github.com/spf13/cobra"
	"golang.org/x/sys/unix"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/agent/secure"
	"banyan/internal/job/console"
	"banyan/internal/job/env"
	"banyan/internal/job/launcher"
	"banyan/internal/job/succession"
)

// LeadCommand returns banyan lead-job, which an agent starts when it leads: the launcher that goes
// on with a job whose launcher was lost.
func LeadCommand(begin BeginWatch) *cobra.Command {
	return &cobra.Command{
		Use:    succession.Command,
		Short:  "Go on with a job whose launcher was lost (for banyan agent)",
		Hidden: true,
		Args:   cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if err := leadJob(begin); err != nil {
				return cli.Failed(err)
			}
			return nil
		},
	}
}

// leadJob goes on with a job, to its end.
func leadJob(begin BeginWatch) error {
	if os.Getenv(env.Debug) != "" {
		slog.SetLogLoggerLevel(slog.LevelDebug)
	} else {
		log.SetOutput(io.Discard)
	}
	if err := secure.HideMemory(); err != nil {
		return err
	}
	signal.Notify(make(chan os.Signal, 1), unix.SIGPIPE) // see agentFlags.serve
	hub := console.NewHub()
	s, err := succession.Succeed(func(text string) { fmt.Fprintln(hub.Stderr(), "banyan:", text) })
	if err != nil {
		return err
	}
	info := s.Will.Info
	info.PID = os.Getpid()
	info.Launcher, _ = os.Hostname()                   // it is only shown
	screen := hub.Screen(s.Resumption.State.Job.Label) // a console that attaches is told of labels
	server := console.NewServer(info, hub)
	defer server.Close()
	folder, err := console.MakeFolder()
	if err != nil {
		slog.Debug("the job has no folder", "err", err) // it can't be asked for, and runs all the same
	}
	hub.Started()
	c := launcher.Config{Stdin: hub.Stdin(), Stdout: hub.Stdout(), Stderr: hub.Stderr(), Screen: screen, Signals: hub.Signals(), Requests: server}
	s.Configure(&c)
	s.Resumption.Input = func(from int64) (input io.Reader, err error) {
		if s.Will.Input {
			input = hub.Input(from) // consoles send again from there
		} else {
			input, err = s.Will.File.Open(from)
		}
		if folder != "" {
			if err := folder.Listen(server); err != nil { // not before: a console sends at once
				slog.Debug("the job has no socket", "err", err)
			}
		}
		return input, err
	}
	outputs, file, err := reopen(&s.Will, screen)
	if err != nil {
		fmt.Fprintln(hub.Stderr(), "banyan:", err)
	}
	shown, err := watchOn(s, &c, begin, func(text string) { fmt.Fprintln(hub.Stderr(), "banyan:", text) })
	if err != nil {
		fmt.Fprintln(hub.Stderr(), "banyan:", err)
	}
	var page func(io.Writer) error
	if shown != nil && isPage(s.Will.Report) {
		page = shown.WriteReport
	}
	code := 1
	report, err := launcher.Resume(c, s.Resumption)
	if shown != nil {
		shown.Close() // its last words
	}
	if err == nil {
		code, err = cli.Code(conclude(report, outputs, file, page))
	}
	if err != nil {
		fmt.Fprintln(hub.Stderr(), "banyan:", err)
	}
	seen := hub.End(code)
	if !seen {
		if err := folder.Keep(hub, server.Info()); err != nil {
			slog.Debug("the end of the job can't be kept", "err", err)
		}
	}
	// The batch script may live, and its console look for this launcher.
	alone := !seen && s.Will.Batch != "" && s.FirstLost() && (folder == "" || !folder.AwaitSeen(info.Name, findLimit+endLimit))
	if s.Finish(code) {
		outputs.finish()
	}
	if alone {
		leaveBatch(s.Will.Batch)
	}
	s.Close()
	return nil
}

// watchOn has the job shown as the launcher before did. nil: nobody watches it.
func watchOn(s *succession.Successor, c *launcher.Config, begin BeginWatch, tell func(string)) (Watch, error) {
	w := s.Will.Shown
	if w == nil {
		return nil, nil
	}
	shown, err := begin(Watched{Name: s.Will.Info.Name, Events: w.Events, OnEvent: w.OnEvent, Spread: true, Settings: w.Settings, Before: s.Shown, Tell: tell})
	if err != nil {
		return nil, err
	}
	c.Watch, c.Counted = shown, w.Counted
	return shown, nil
}

// leaveBatch ends Slurm's job in which this one was started. What would have ended it was lost with
// the host of the first launcher, and with --no-kill Slurm would keep the other hosts for it.
func leaveBatch(number string) {
	out, err := exec.Command("scancel", number).CombinedOutput()
	slog.Debug("scancel", "job", number, "out", string(out), "err", err)
}

// reopen has the output go on in the files that the user named, behind what they hold. What can't
// be opened is left to consoles.
func reopen(w *succession.Will, screen *console.Screen) (open files, report *os.File, err error) {
	var errs []error
	for _, x := range []*outputFile{{flag: "output", path: w.Output, stream: console.Stdout}, {flag: "error", path: w.Error, stream: console.Stderr}} {
		if x.path == "" {
			continue
		}
		var err error
		if x.lasting, err = screen.DivertTo(x.stream, x.path, w.Info.Name); x.lasting != nil {
			x.to = x.lasting
		} else if err == nil { // a device
			var file *os.File
			if file, err = os.OpenFile(x.path, os.O_WRONLY|os.O_APPEND, 0); err == nil {
				x.to = file
				screen.Divert(x.stream, file)
			}
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("--%s: %w", x.flag, err))
			continue
		}
		open = append(open, x)
	}
	if w.Report != "" {
		if report, err = os.OpenFile(w.Report, os.O_WRONLY|os.O_CREATE, 0o666); err != nil {
			errs = append(errs, fmt.Errorf("the report: %w", err))
		}
	}
	return open, report, errors.Join(errs...)
}
