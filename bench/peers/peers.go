// Package peers measures MPI libraries beside each other: the same C program (programs/row.c),
// built by the compiler of each, run in turn, many rounds. The figure to look at is the ratio of
// two libraries within a round, since a machine's speed changes from minute to minute.
//
// # Method
//
// A row is a kind of operation, a size and a number of processes. In each round every library
// runs every row once, in an order that rotates with the round. Figures are medians of the rounds
// with their quartiles; the ratio is the median of the rounds' ratios of ours to the better peer,
// the one with the lower median. Beside them is the machine's floor: a cache line that two
// processes hand to and fro (programs/floor.c).
//
// Programs does the same with whole programs that were built for each library.
//
// # Limits
//
// One machine. With more processes than cores the scheduler is measured as well, for all
// libraries alike.
package peers

import (
	"context"
	"embed"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed programs
var sources embed.FS

// Library is an MPI library to measure.
type Library struct {
	Name string
	CC   string   // its compiler
	Exec []string // how it starts programs, up to the number of processes
	// TCP is Exec over TCP within the machine, nil if there is no such way.
	TCP []string
	// Patient are further arguments for jobs in which one process is slowed down very much.
	Patient []string
	// Replicas is Exec up to the number of replicas, nil if there are none.
	Replicas []string
	// Hosts is the flag before a list of hosts, as h0:4,h1:4.
	Hosts string
	// Report is the flag before a file for a report as JSON, empty if there is none.
	Report string
	// Survive are further arguments, behind the number of processes, for jobs that go on after the
	// death of a rank (ULFM).
	Survive []string
	Env     []string
}

// Libraries returns Banyan's, from a directory of programs, and those that Debian has.
func Libraries(bin string) []Library {
	return []Library{
		{Name: "banyan", CC: filepath.Join(bin, "mpicc"), Exec: []string{filepath.Join(bin, "mpiexec"), "-n"},
			TCP:      []string{filepath.Join(bin, "mpiexec"), "--transport", "tcp", "-n"},
			Patient:  []string{"--heartbeat-period", "30s", "--heartbeat-timeout", "300s"},
			Replicas: []string{filepath.Join(bin, "mpiexec"), "--replicas"}, Hosts: "--host", Report: "--report"},
		{Name: "openmpi", CC: "mpicc.openmpi", Exec: []string{"mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "-n"},
			TCP: []string{"mpiexec.openmpi", "--allow-run-as-root", "--oversubscribe", "--mca", "pml", "ob1", "--mca", "btl", "self,tcp", "--mca", "btl_tcp_if_include", "lo", "-n"},
			Env: []string{"OMPI_ALLOW_RUN_AS_ROOT=1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1"}, Hosts: "--host", Survive: []string{"--with-ft", "ulfm"}},
		{Name: "mpich", CC: "mpicc.mpich", Exec: []string{"mpiexec.mpich", "-n"}, Hosts: "-hosts"},
	}
}

// Row is one thing to measure.
type Row struct {
	Kind  string // of programs/row.c
	Bytes int
	Procs int
	TCP   bool
	// Replicas is how many processes each rank has, 0 for one.
	Replicas int
	// Order is what banyan's flag of that name says of replicas; empty: nothing.
	Order string
}

func (r Row) String() string {
	transport := ""
	if r.TCP {
		transport = " over tcp"
	}
	replicas := ""
	if r.Replicas > 1 {
		replicas = fmt.Sprintf(" with %d replicas", r.Replicas)
	}
	if r.Order != "" {
		replicas += " in order " + r.Order
	}
	return fmt.Sprintf("%s of %d bytes, %d processes%s%s", r.Kind, r.Bytes, r.Procs, replicas, transport)
}

// Rows are those of the project's goals.
func Rows() []Row {
	var rows []Row
	for _, size := range []int{8, 1 << 10, 16 << 10, 128 << 10, 1 << 20, 4 << 20} {
		rows = append(rows, Row{Kind: "latency", Bytes: size, Procs: 2})
	}
	rows = append(rows, Row{Kind: "latency", Bytes: 8, Procs: 2, TCP: true}, Row{Kind: "latency", Bytes: 1 << 20, Procs: 2, TCP: true})
	for _, size := range []int{8, 16 << 10, 1 << 20} {
		rows = append(rows, Row{Kind: "stream", Bytes: size, Procs: 2})
	}
	for _, size := range []int{128 << 10, 1 << 20, 4 << 20} {
		rows = append(rows, Row{Kind: "written", Bytes: size, Procs: 2})
	}
	rows = append(rows, Row{Kind: "written-stream", Bytes: 1 << 20, Procs: 2})
	for _, procs := range []int{2, 4, 8, 16} {
		rows = append(rows, Row{Kind: "barrier", Procs: procs})
	}
	for _, kind := range []string{"bcast", "allreduce", "alltoall"} {
		for _, procs := range []int{2, 4} {
			for _, size := range []int{8, 64 << 10, 1 << 20} {
				rows = append(rows, Row{Kind: kind, Bytes: size, Procs: procs})
			}
		}
		rows = append(rows, Row{Kind: kind, Bytes: 8, Procs: 8})
	}
	for _, kind := range []string{"vector", "indexed", "struct"} {
		for _, size := range []int{1 << 10, 16 << 10, 1 << 20} {
			rows = append(rows, Row{Kind: kind, Bytes: size, Procs: 2})
		}
		for _, size := range []int{1 << 10, 16 << 10} {
			rows = append(rows, Row{Kind: kind + "-stream", Bytes: size, Procs: 2})
		}
	}
	for _, kind := range []string{"put", "put-stream", "get", "accumulate", "put-created", "get-created", "accumulate-created"} {
		for _, size := range []int{8, 4 << 10, 1 << 20} {
			rows = append(rows, Row{Kind: kind, Bytes: size, Procs: 2})
		}
	}
	rows = append(rows, Row{Kind: "fetch", Bytes: 8, Procs: 2}, Row{Kind: "fetch-created", Bytes: 8, Procs: 2})
	for _, kind := range []string{"lock", "lock-exclusive", "lock-all", "lock-contended", "start", "fence"} {
		rows = append(rows, Row{Kind: kind, Bytes: 8, Procs: 2})
	}
	rows = append(rows, Row{Kind: "start", Bytes: 4 << 10, Procs: 2}, Row{Kind: "fence", Bytes: 4 << 10, Procs: 2}, Row{Kind: "fence", Bytes: 8, Procs: 4})
	for _, kind := range []string{"rate", "posted", "unexpected", "threads-2", "threads-4"} {
		rows = append(rows, Row{Kind: kind, Bytes: 8, Procs: 2})
	}
	return rows
}

// Select are the rows of some kinds, in the order of Rows: of a family, as vector, or of one kind,
// as vector-stream. Without kinds they are all. An error names a kind that doesn't exist.
func Select(kinds []string) ([]Row, error) {
	for _, kind := range kinds {
		if !slices.ContainsFunc(Rows(), func(r Row) bool { return r.of(kind) }) {
			return nil, fmt.Errorf("there is no %q, but %s", kind, strings.Join(Families(), ", "))
		}
	}
	return slices.DeleteFunc(Rows(), func(r Row) bool {
		return len(kinds) > 0 && !slices.ContainsFunc(kinds, r.of)
	}), nil
}

// of tells whether a row is of a kind or of a family of kinds.
func (r Row) of(kind string) bool { return r.Kind == kind || r.family() == kind }

func (r Row) family() string {
	family, _, _ := strings.Cut(r.Kind, "-")
	return family
}

// Families are the kinds of Rows, those of one family told by its name.
func Families() []string {
	var families []string
	for _, r := range Rows() {
		if !slices.Contains(families, r.family()) {
			families = append(families, r.family())
		}
	}
	return families
}

// Bench is a set of libraries whose programs are built.
type Bench struct {
	Libraries []Library
	programs  []string
	floor     string
}

// rowLimit ends a measurement that doesn't end.
const rowLimit = time.Minute

// Build builds the programs in dir, an empty one. It leaves out libraries whose compiler is
// missing, and returns their names.
func Build(dir string, libraries []Library) (b *Bench, missing []string, err error) {
	b = new(Bench)
	if err := os.CopyFS(dir, sources); err != nil {
		return nil, nil, err
	}
	source := func(name string) string { return filepath.Join(dir, "programs", name) }
	libraries, missing = Installed(libraries)
	for _, l := range libraries {
		program := filepath.Join(dir, "row-"+l.Name)
		if err := run(l.CC, "-O2", "-pthread", "-o", program, source("row.c")); err != nil {
			return nil, nil, err
		}
		b.Libraries, b.programs = append(b.Libraries, l), append(b.programs, program)
	}
	b.floor = filepath.Join(dir, "floor")
	return b, missing, run("cc", "-O2", "-o", b.floor, source("floor.c"))
}

func run(name string, args ...string) error {
	if out, err := exec.Command(name, args...).CombinedOutput(); err != nil {
		return fmt.Errorf("%s %s: %w\n%s", name, strings.Join(args, " "), err, out)
	}
	return nil
}

// Floor is the nanoseconds that a cache line takes one way.
func (b *Bench) Floor(ctx context.Context) (float64, error) {
	return number(ctx, nil, b.floor)
}

// Measure measures a row of the library with an index, in nanoseconds of one
// operation. ok is false if the library has no such row.
func (b *Bench) Measure(ctx context.Context, library int, r Row) (ns float64, ok bool, err error) {
	args := b.command(library, r)
	if args == nil {
		return 0, false, nil
	}
	ns, err = number(ctx, b.Libraries[library].Env, args[0], args[1:]...)
	if err != nil {
		err = fmt.Errorf("%s, %v: %w", b.Libraries[library].Name, r, err)
	}
	return ns, true, err
}

// command starts the job of a row, nil if the library has no such row.
func (b *Bench) command(library int, r Row) []string {
	l := b.Libraries[library]
	start := l.Exec
	switch {
	case r.Replicas > 1 && l.Replicas != nil:
		start = append(slices.Clone(l.Replicas), strconv.Itoa(r.Replicas))
		if r.Order != "" {
			start = append(start, "--order", r.Order)
		}
		start = append(start, "-n")
	case r.Replicas > 1:
		return nil
	case r.TCP:
		start = l.TCP
	}
	if start == nil {
		return nil
	}
	return append(slices.Clone(start), strconv.Itoa(r.Procs), b.programs[library], r.Kind, strconv.Itoa(r.Bytes))
}

// Start starts a job of a row, of which a process will be slowed down, with more arguments for
// programs/row.c. ok is false if the library has no such row. The job ends with the context.
func (b *Bench) Start(ctx context.Context, library int, r Row, more ...string) (job *exec.Cmd, ok bool, err error) {
	args := b.command(library, r)
	if args == nil {
		return nil, false, nil
	}
	l := b.Libraries[library]
	args = append(slices.Insert(args, 1, l.Patient...), more...)
	job = command(ctx, l.Env, args[0], args[1:]...)
	return job, true, job.Start()
}

// number runs a program that prints one.
func number(ctx context.Context, env []string, name string, args ...string) (float64, error) {
	ctx, cancel := context.WithTimeout(ctx, rowLimit)
	defer cancel()
	cmd := command(ctx, env, name, args...)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return 0, fmt.Errorf("it has taken longer than %v", rowLimit)
	}
	if err != nil {
		return 0, fmt.Errorf("%w: %s", err, strings.TrimSpace(stderr.String()))
	}
	return strconv.ParseFloat(strings.TrimSpace(string(out)), 64)
}

// command is interrupted with the context: launchers clean up then.
func command(ctx context.Context, env []string, name string, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Env = append(os.Environ(), env...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 5 * time.Second
	return cmd
}
