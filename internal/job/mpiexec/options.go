// Package mpiexec reads command lines as people type them for other MPIs' mpiexec: it translates
// the options into those of banyan run, and divides the programs at ":".
package mpiexec

import (
	"fmt"
	"slices"
	"strings"
)

// meaning says what an option of another mpiexec means to banyan run.
type meaning uint8

const (
	flag     meaning = iota // a flag of banyan run
	variable                // the flag --env: the option has NAME VALUE or NAME=VALUE behind it
	perHost                 // the ranks on each host: --ranks, unless another option says how many
	granted                 // nothing: what it asks for is always so
	ignored                 // nothing, and the user gets a remark
)

// option is an option of another mpiexec.
type option struct {
	names   string // without dashes
	values  int    // how many arguments follow it
	meaning meaning
	flag    string // of banyan run, if that is the meaning
}

// options are those of Open MPI's, MPICH's and Intel's mpiexec that banyan run has by other names
// or doesn't have.
var options = []option{
	{"n np c", 1, flag, "ranks"},
	{"host H hosts", 1, flag, "host"},
	{"hostfile machinefile f", 1, flag, "hostfile"},
	{"x", 1, flag, "env"},
	{"wdir wd", 1, flag, "wdir"},
	{"l prepend-rank tag-output", 0, flag, "label"},

	{"env genv", 0, variable, ""}, // its values are read by name

	// There is one host, so the ranks on each host are all ranks.
	{"ppn perhost npernode N", 1, perHost, ""},

	{"oversubscribe allow-run-as-root use-hwthread-cpus", 0, granted, ""},
	{"genvall envall q quiet", 0, granted, ""},

	{"mca gmca", 2, ignored, ""},
	{"prefix map-by rank-by bootstrap launcher rmk iface mpi", 1, ignored, ""},
	{"report-bindings display-map v verbose", 0, ignored, ""},
}

// find is the option of another mpiexec that has this name.
func find(name string) (option, bool) {
	for _, o := range options {
		if slices.Contains(strings.Fields(o.names), name) {
			return o, true
		}
	}
	return option{}, false
}

// Known says whether banyan run has a flag of this name, and whether the flag takes a value.
type Known func(name string) (value, ok bool)

// Translate translates the options in front of the program into those of banyan run, and leaves the
// rest. The remarks tell which options have no meaning here.
func Translate(args []string, known Known) (translated, remarks []string, err error) {
	t := translator{known: known, args: args}
	for t.atOption() {
		if err := t.next(); err != nil {
			return nil, nil, err
		}
	}
	if t.perHost != "" && !t.saysRanks() {
		t.add("ranks", t.perHost)
	}
	return append(t.flags, t.args...), t.remarks, nil
}

// translator reads options one by one.
type translator struct {
	known   Known
	args    []string // that aren't read yet
	flags   []string // of banyan run, so far
	perHost string   // ranks on each host; empty: no option said so
	remarks []string
}

// atOption says whether the next argument is an option. "-" isn't, and "--" ends the options.
func (t *translator) atOption() bool {
	return len(t.args) > 0 && len(t.args[0]) >= 2 && t.args[0][0] == '-' && t.args[0] != "--"
}

// next translates the next option.
func (t *translator) next() error {
	arg := t.args[0]
	t.args = t.args[1:]
	name, value, given := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	other, isOther := find(name)
	takesValue, isOurs := t.known(name)
	switch {
	case isOther && other.meaning == variable:
		return t.variable(arg, value, given)
	case isOurs:
		if takesValue && !given {
			values, err := t.take(arg, 1)
			if err != nil {
				return err
			}
			value, given = values[0], true
		}
		if given {
			t.add(name, value)
		} else {
			t.flags = append(t.flags, "--"+name)
		}
		return nil
	case isOther:
		values, said := []string{value}, arg
		if !given {
			var err error
			if values, err = t.take(arg, other.values); err != nil {
				return err
			}
			said = strings.Join(append([]string{arg}, values...), " ")
		}
		t.translate(other, values, said)
		return nil
	}
	// -n4 is an option of Open MPI's mpiexec, too.
	if number, ok := strings.CutPrefix(arg, "-n"); ok && number != "" && strings.Trim(number, "0123456789") == "" {
		t.add("ranks", number)
		return nil
	}
	return fmt.Errorf("unknown option %s (see --help)", arg)
}

// variable translates an option that sets a variable of the environment.
func (t *translator) variable(arg, value string, given bool) error {
	if !given {
		values, err := t.take(arg, 1)
		if err != nil {
			return err
		}
		if value = values[0]; !strings.Contains(value, "=") {
			if values, err = t.take(arg, 1); err != nil {
				return fmt.Errorf("%s wants a name and a value", arg)
			}
			value += "=" + values[0]
		}
	}
	t.add("env", value)
	return nil
}

// translate translates any other option of another mpiexec. said is the option as it was given.
func (t *translator) translate(o option, values []string, said string) {
	switch {
	case o.meaning == perHost:
		t.perHost = values[0]
	case o.meaning == flag && o.values == 1:
		t.add(o.flag, values[0])
	case o.meaning == flag:
		t.flags = append(t.flags, "--"+o.flag)
	case o.meaning == ignored:
		t.remarks = append(t.remarks, said+" has no meaning here")
	}
}

// take takes the values that follow an option.
func (t *translator) take(option string, n int) ([]string, error) {
	switch {
	case len(t.args) == 0 && n == 1:
		return nil, fmt.Errorf("%s wants a value", option)
	case len(t.args) < n:
		return nil, fmt.Errorf("%s wants %d values", option, n)
	}
	values := t.args[:n]
	t.args = t.args[n:]
	return values, nil
}

// add adds a flag of banyan run that has a value.
func (t *translator) add(flag, value string) { t.flags = append(t.flags, "--"+flag+"="+value) }

// saysRanks says whether a flag tells how many ranks there are.
func (t *translator) saysRanks() bool {
	return slices.ContainsFunc(t.flags, func(s string) bool {
		return strings.HasPrefix(s, "--ranks=") || strings.HasPrefix(s, "--host")
	})
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
