// Package mpiexec reads command lines as people type them from habit: the options
// of other MPIs' mpiexec in the form that banyan run has them, several programs
// with ":" between, and lists of hosts.
//
// # Limits
//
// All hosts must be this one: a job over several is started by Slurm's srun, or
// another launcher that speaks PMI-1.
package mpiexec

import (
	"fmt"
	"slices"
	"strings"
)

// A habit is an option of another mpiexec.
type habit struct {
	// modern is the flag of banyan run that it means, or empty: it means
	// nothing here.
	modern string
	// values is how many arguments belong to it.
	values int
	// silent says of one that means nothing that what it asks for is so anyway.
	silent bool
}

// habits are by name, without dashes.
var habits = map[string]habit{
	"n": {modern: "ranks", values: 1}, "np": {modern: "ranks", values: 1}, "c": {modern: "ranks", values: 1},
	"host": {modern: "host", values: 1}, "H": {modern: "host", values: 1}, "hosts": {modern: "host", values: 1},
	"hostfile": {modern: "hostfile", values: 1}, "machinefile": {modern: "hostfile", values: 1}, "f": {modern: "hostfile", values: 1},
	"x":    {modern: "env", values: 1},
	"wdir": {modern: "wdir", values: 1}, "wd": {modern: "wdir", values: 1},
	"l": {modern: "label"}, "prepend-rank": {modern: "label"}, "tag-output": {modern: "label"},

	"oversubscribe": {silent: true}, "allow-run-as-root": {silent: true}, "use-hwthread-cpus": {silent: true},
	"genvall": {silent: true}, "envall": {silent: true}, "q": {silent: true}, "quiet": {silent: true},
	"mca": {values: 2}, "gmca": {values: 2}, "prefix": {values: 1}, "map-by": {values: 1}, "rank-by": {values: 1},
	// There is one host, so what it gets is all; -n counts before them.
	"ppn": {modern: perHost, values: 1}, "perhost": {modern: perHost, values: 1}, "npernode": {modern: perHost, values: 1}, "N": {modern: perHost, values: 1},
	"bootstrap": {values: 1}, "launcher": {values: 1}, "rmk": {values: 1}, "iface": {values: 1}, "mpi": {values: 1},
	"report-bindings": {}, "display-map": {}, "v": {}, "verbose": {},
}

// perHost is no flag of banyan run: it means --ranks where nothing else does.
const perHost = "per host"

// Known tells of a flag of banyan run whether there is one of that name, and
// whether it takes a value.
type Known func(name string) (value, ok bool)

// Modern turns the options in front of the program into those of banyan run,
// and leaves the rest. Remarks are on what has no meaning here.
func Modern(args []string, known Known) (modern, remarks []string, err error) {
	var ranks []string // by the number for each host
	whole := func() []string {
		if slices.ContainsFunc(modern, func(s string) bool {
			return strings.HasPrefix(s, "--ranks=") || strings.HasPrefix(s, "--host")
		}) {
			return modern
		}
		return append(modern, ranks...)
	}
	for len(args) > 0 {
		arg := args[0]
		if arg == "--" {
			return append(whole(), args...), remarks, nil
		}
		if len(arg) < 2 || arg[0] != '-' {
			break
		}
		args = args[1:]
		name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
		take := func(n int) ([]string, error) {
			switch {
			case len(args) == 0 && n == 1:
				return nil, fmt.Errorf("%s wants a value", arg)
			case len(args) < n:
				return nil, fmt.Errorf("%s wants %d values", arg, n)
			}
			values := args[:n]
			args = args[n:]
			return values, nil
		}
		switch takes, ok := known(name); {
		case name == "env" || name == "genv": // NAME VALUE, or NAME=VALUE
			if !given {
				v, err := take(1)
				if err != nil {
					return nil, nil, err
				}
				if value = v[0]; !strings.Contains(value, "=") {
					if v, err = take(1); err != nil {
						return nil, nil, fmt.Errorf("%s wants a name and a value", arg)
					}
					value += "=" + v[0]
				}
			}
			modern = append(modern, "--env="+value)
		case ok && given:
			modern = append(modern, "--"+name+"="+value)
		case ok && takes:
			v, err := take(1)
			if err != nil {
				return nil, nil, fmt.Errorf("%s wants a value", arg)
			}
			modern = append(modern, "--"+name+"="+v[0])
		case ok:
			modern = append(modern, "--"+name)
		default:
			h, ok := habits[name]
			if !ok {
				// -n4, or a mistake that banyan run will tell.
				if rest, short := strings.CutPrefix(arg, "-n"); short && rest != "" && strings.Trim(rest, "0123456789") == "" {
					modern = append(modern, "--ranks="+rest)
					continue
				}
				return nil, nil, fmt.Errorf("unknown option %s (see --help)", arg)
			}
			values := []string{value}
			if !given {
				if values, err = take(h.values); err != nil {
					return nil, nil, err
				}
			}
			switch {
			case h.modern == perHost:
				ranks = []string{"--ranks=" + values[0]}
			case h.modern != "" && h.values == 1:
				modern = append(modern, "--"+h.modern+"="+values[0])
			case h.modern != "":
				modern = append(modern, "--"+h.modern)
			case !h.silent:
				remarks = append(remarks, fmt.Sprintf("%s has no meaning here", strings.Join(append([]string{arg}, values...), " ")))
			}
		}
	}
	return append(whole(), args...), remarks, nil
}

// Segments divides a command line at its ":".
func Segments(args []string) [][]string {
	var segments [][]string
	for {
		i := slices.Index(args, ":")
		if i < 0 {
			return append(segments, args)
		}
		segments = append(segments, args[:i])
		args = args[i+1:]
	}
}
