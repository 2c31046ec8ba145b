package job

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/sys/unix"

	"banyan/cmd/banyan/internal/cli"
	"banyan/internal/job/console"
	"banyan/internal/job/launcher"
)

// showFlags are the flags of banyan run about what shows the job.
type showFlags struct {
	detach        bool
	onLoss        string
	output, error string
}

// What becomes of a job whose console is lost.
const (
	lossEnds      = "end"
	lossContinues = "continue"
)

func (f *showFlags) add(flags *pflag.FlagSet) {
	flags.BoolVar(&f.detach, "detach", false, "print the job's name and return once all processes have started; banyan attach shows the job")
	flags.StringVar(&f.onLoss, "on-console-loss", "", "if this command or its terminal dies, the job may `continue` or end (default continue with --detach and in a batch job, else end)")
	flags.StringVar(&f.output, "output", "", "write the program's stdout to `FILE`, whatever becomes of the console")
	flags.StringVar(&f.error, "error", "", "write its stderr, and messages about the job, to `FILE`")
}

// apart says whether the launcher is another process than the console.
func (f *showFlags) apart() (bool, error) {
	if f.output != "" && f.output == f.error {
		return false, errors.New("--output and --error need two files: give each its own")
	}
	switch f.onLoss {
	case "":
		return f.detach || inBatch(), nil
	case lossContinues:
		return true, nil
	case lossEnds:
		if f.detach {
			return false, errors.New("--detach leaves the job without a console, and --on-console-loss=end would end it: leave one of them out")
		}
		return false, nil
	}
	return false, fmt.Errorf("--on-console-loss is %q: want continue or end", f.onLoss)
}

// inBatch says whether this process runs in a batch job, without a terminal.
func inBatch() bool {
	if os.Getenv("SLURM_JOB_ID") == "" && os.Getenv("PBS_JOBID") == "" {
		return false
	}
	return !isTerminal(os.Stdin) && !isTerminal(os.Stdout) && !isTerminal(os.Stderr)
}

func isTerminal(f *os.File) bool {
	_, err := unix.IoctlGetTermios(int(f.Fd()), unix.TCGETS)
	return err == nil
}

// files are what --output and --error name.
type files []*outputFile

// outputFile is one of them.
type outputFile struct {
	flag, path string
	stream     console.Stream
	to         io.Closer
	lasting    *console.Diverted // it, if another launcher may go on with it
}

// open has the job's output go to files. They are emptied.
func (f *showFlags) open(c *launcher.Config) (open files, err error) {
	for _, x := range []struct {
		flag, path string
		stream     console.Stream
		set        func(*os.File)
	}{
		{"output", f.output, console.Stdout, func(o *os.File) { c.Stdout = o }},
		{"error", f.error, console.Stderr, func(o *os.File) { c.Stderr = o }},
	} {
		if x.path == "" {
			continue
		}
		file, err := os.Create(x.path)
		if err != nil {
			open.Close()
			return nil, fmt.Errorf("--%s: %w", x.flag, err)
		}
		open = append(open, &outputFile{x.flag, x.path, x.stream, file, nil})
		if s, ok := c.Screen.(*console.Screen); ok {
			s.Divert(x.stream, file)
		} else {
			x.set(file)
		}
	}
	return open, nil
}

// outlive has another launcher be able to go on with the files.
func (f files) outlive(screen *console.Screen, job string) error {
	for _, x := range f {
		lasting, err := screen.DivertTo(x.stream, x.path, job)
		if err != nil {
			return fmt.Errorf("--%s: %w", x.flag, err)
		}
		if lasting != nil {
			x.to.Close() // nothing was written there
			x.to, x.lasting = lasting, lasting
		}
	}
	return nil
}

// Close closes the files that are open.
func (f files) Close() error {
	var all []error
	for _, x := range f {
		if x.to != nil {
			all = append(all, x.to.Close())
			x.to = nil
		}
	}
	return errors.Join(all...)
}

// finish says that no other launcher goes on with the files.
func (f files) finish() {
	for _, x := range f {
		if x.lasting != nil {
			x.lasting.Finish()
		}
	}
}

// What a launcher that is apart has as the job's input.
const (
	inputOwn     = "own"     // its own stdin
	inputConsole = "console" // that of consoles
)

// endLimit bounds the wait for a launcher that has said how its job has ended.
const endLimit = 3 * time.Second

// launch starts a launcher as a process of its own, with the arguments of banyan run, and shows
// the job.
func (f *showFlags) launch(program string, args []string) error {
	folder, err := console.MakeFolder()
	if err != nil {
		return cli.Exit(1, err)
	}
	self, err := os.Executable()
	if err != nil {
		return cli.Exit(1, err)
	}
	name, input := console.NewName(program), inputConsole
	if f.detach && !isTerminal(os.Stdin) {
		input = inputOwn
	}
	cmd := exec.Command(self, append([]string{"launch-job", string(folder), name, input}, args...)...)
	cmd.Args[0] = "banyan" // this command has other names
	if input == inputOwn {
		cmd.Stdin = os.Stdin
	}
	v := newViewer(false)
	defer v.close()
	conn, err := folder.Launch(name, cmd)
	if err != nil {
		return cli.Failedf("the launcher can't be started: %w", err)
	}
	v.UntilStarted = f.detach
	if !f.detach {
		v.Stdin = jobInput()
	}
	outcome, err := v.follow(folder, name, conn)
	if errors.Is(err, console.ErrNotWelcome) {
		err = gone(folder, name, true)
	}
	if err != nil {
		return cli.Failed(err)
	}
	if outcome.Started {
		fmt.Println(name)
		return nil
	}
	if outcome.Ended {
		ended := make(chan struct{})
		go func() { cmd.Wait(); close(ended) }()
		select {
		case <-ended:
		case <-time.After(endLimit):
		}
	}
	return v.result(outcome)
}
