package job

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"banyan/internal/job/compiler"
	"banyan/internal/job/hosts"
	"banyan/internal/job/launcher"
	"banyan/internal/job/mpiexec"
)

// partFlags are the flags that each program of a job has of its own.
type partFlags struct {
	ranks     int
	env       []string
	wdir      string
	hosts     string
	hostsFile string

	list      hosts.List // nil: none are given
	ranksSaid bool
	remarks   []string // about flags that have no meaning here
}

func (f *partFlags) add(flags *pflag.FlagSet) {
	flags.SetInterspersed(false) // flags after PROGRAM are the program's
	flags.IntVarP(&f.ranks, "ranks", "n", 1, "number of ranks")
	flags.StringArrayVar(&f.env, "env", nil, "set a variable in the program's environment: `NAME=VALUE`, or NAME to hand it on")
	flags.StringVar(&f.wdir, "wdir", "", "start in `DIRECTORY`")
	flags.StringVar(&f.hosts, "host", "", "run on these `HOSTS`, as a:8,b:8 or a,b; gives -n where that isn't said")
	flags.StringVar(&f.hostsFile, "hostfile", "", "the same from `FILE`, a host a line, with slots=4 or :4, and rack=NAME, behind it")
}

// parse reads what belongs to one program.
func (f *partFlags) parse(flags *pflag.FlagSet, args []string) (launcher.Part, error) {
	modern, remarks, err := mpiexec.Translate(args, func(name string) (value, ok bool) {
		flag := flags.Lookup(name)
		return flag != nil && flag.NoOptDefVal == "", flag != nil
	})
	if err != nil {
		return launcher.Part{}, err
	}
	if err := flags.Parse(modern); err != nil {
		return launcher.Part{}, err
	}
	f.remarks = remarks
	part := launcher.Part{Ranks: f.ranks, Dir: f.wdir, Env: withLibrary(os.Environ())}
	if rest := flags.Args(); len(rest) > 0 {
		part.Program, part.Args = rest[0], rest[1:]
	}
	for _, variable := range f.env {
		name, _, set := strings.Cut(variable, "=")
		if name == "" {
			return part, fmt.Errorf("--env %q: want NAME=VALUE", variable)
		}
		if set { // otherwise it is handed on as it is
			part.Env = append(part.Env, variable)
		}
	}
	f.ranksSaid = flags.Changed("ranks")
	f.list, err = f.parseHosts()
	return part, err
}

// parseAll reads the command line of a job, whose programs have ":" between them. flags are the
// command's; they stand with those of the first program.
func (f *partFlags) parseAll(flags *pflag.FlagSet, args []string) (parts []launcher.Part, all []*partFlags, err error) {
	for i, segment := range mpiexec.Segments(args) {
		part := f
		if i > 0 {
			flags, part = pflag.NewFlagSet("part", pflag.ContinueOnError), new(partFlags)
			part.add(flags)
		}
		x, err := part.parse(flags, segment)
		if err != nil {
			return nil, nil, err
		}
		if x.Program == "" && i > 0 {
			return nil, nil, errors.New("no program is given after \":\"")
		}
		parts, all = append(parts, x), append(all, part)
	}
	return parts, all, nil
}

// remark tells the user what was left out of the command line.
func remark(all []*partFlags) {
	for _, f := range all {
		for _, r := range f.remarks {
			fmt.Fprintln(os.Stderr, "banyan:", r)
		}
	}
}

// ranksOf counts the ranks of all programs.
func ranksOf(parts []launcher.Part) (n int) {
	for _, p := range parts {
		n += p.Ranks
	}
	return n
}

// withLibrary lets programs find this command's library by its name, as Python does. Directories
// that the user has set come first.
func withLibrary(env []string) []string {
	self, err := os.Executable()
	if err != nil {
		return env
	}
	at, err := compiler.Find(filepath.Dir(self))
	if err != nil {
		return env // only Go programs are run from here
	}
	const name = "LD_LIBRARY_PATH"
	path := at.Lib
	if set := os.Getenv(name); set != "" {
		path = set + ":" + path
	}
	return append(env, name+"="+path)
}

// parseHosts reads the hosts of the program, nil if none are given.
func (f *partFlags) parseHosts() (hosts.List, error) {
	switch {
	case f.hosts != "" && f.hostsFile != "":
		return nil, errors.New("give either --host or --hostfile")
	case f.hosts != "":
		list, err := hosts.ParseList(f.hosts)
		if err != nil {
			return nil, fmt.Errorf("--host: %w", err)
		}
		return list, nil
	case f.hostsFile != "":
		file, err := os.Open(f.hostsFile)
		if err != nil {
			return nil, fmt.Errorf("--hostfile: %w", err)
		}
		defer file.Close()
		return hosts.ParseFile(f.hostsFile, file)
	}
	return nil, nil
}

// hereOnly gives each program that doesn't say it its number of ranks, and refuses other hosts.
func hereOnly(parts []launcher.Part, all []*partFlags) error {
	here, err := hosts.FindHere()
	if err != nil {
		return err
	}
	for i, p := range all {
		for _, h := range p.list {
			if !here.Is(h.Name) {
				return fmt.Errorf("%q isn't this machine (%s), and banyan check runs here only", h.Name, here.Name)
			}
		}
		if p.list != nil && !p.ranksSaid {
			parts[i].Ranks = max(p.list.Slots(), 1)
		}
	}
	return nil
}
