package cluster

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
)

// Cluster is a running cluster.
type Cluster struct {
	Root string // the project's directory, which all hosts see
	name string
	env  []string // what tests have added to the environment
}

// patience bounds what scripts/cluster.sh does, on a machine with much else to do.
const patience = 2 * time.Minute

// Up makes a cluster of n hosts, h0 to h(n-1), and a console. One with the same name is removed
// before. The new one is removed when this process ends. The caller is a test of a package that is
// three directories below the project's.
func Up(name string, n int, slurm bool) (*Cluster, error) {
	root, err := filepath.Abs("../../..") // tests run in the directory of their package
	if err != nil {
		return nil, err
	}
	c := &Cluster{Root: root, name: name}
	if err := c.Down(); err != nil {
		return nil, err
	}
	args := []string{"up", strconv.Itoa(n), "--with", strconv.Itoa(os.Getpid())}
	if slurm {
		args = append(args, "--slurm")
	}
	if out, err := c.script(args...); err != nil {
		return nil, fmt.Errorf("cluster.sh up: %w\n%s", err, out)
	}
	return c, nil
}

// Down removes the cluster, with all that runs on it.
func (c *Cluster) Down() error {
	if out, err := c.script("down"); err != nil {
		return fmt.Errorf("cluster.sh down: %w\n%s", err, out)
	}
	return nil
}

// Script is a call of scripts/cluster.sh for this cluster. If the context ends so does the call,
// and what it runs on the console.
func (c *Cluster) Script(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, filepath.Join(c.Root, "scripts/cluster.sh"), args...)
	cmd.Dir = c.Root
	cmd.Env = slices.Concat(os.Environ(), c.env, []string{"CLUSTER=" + c.name})
	cmd.WaitDelay = 10 * time.Second
	return cmd
}

// Setenv has what is started on the console from now on see a variable, until the test ends.
func (c *Cluster) Setenv(t testing.TB, name, value string) {
	before := slices.Clip(c.env)
	c.env = append(before, name+"="+value)
	t.Cleanup(func() { c.env = before })
}

// File is a path that all hosts see, in a directory that is removed when the test ends.
func (c *Cluster) File(t testing.TB, name string) string {
	t.Helper()
	dir, err := os.MkdirTemp(filepath.Join(c.Root, "bin"), "test-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return filepath.Join(dir, name)
}

func (c *Cluster) script(args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	out, err := c.Script(ctx, args...).CombinedOutput()
	return string(out), err
}

// Run runs a command on the console, which has to succeed, and returns what it printed.
func (c *Cluster) Run(t testing.TB, args ...string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	cmd := c.Script(ctx, append([]string{"run"}, args...)...)
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, out, &errs)
	}
	return string(out)
}

// Fault does what the words of a fault say, as scripts/cluster.sh fault.
func (c *Cluster) Fault(t testing.TB, fault string) {
	t.Helper()
	if out, err := c.script("fault", fault); err != nil {
		t.Fatalf("fault %q: %v\n%s", fault, err, out)
	}
}

// Try runs a command on the console, which may fail, and returns all that it printed.
func (c *Cluster) Try(ctx context.Context, args ...string) (string, error) {
	out, err := c.Script(ctx, append([]string{"run"}, args...)...).CombinedOutput()
	return string(out), err
}

// Heal mends all faults, and ends what jobs have left.
func (c *Cluster) Heal(t testing.TB) {
	t.Helper()
	if out, err := c.script("heal"); err != nil {
		t.Fatalf("heal: %v\n%s", err, out)
	}
}

// Left is what jobs have left, processes and files, one a line.
func (c *Cluster) Left(t testing.TB) string {
	t.Helper()
	out, err := c.script("left")
	if err != nil && strings.Contains(out, "cluster: ") {
		t.Fatalf("left: %v\n%s", err, out)
	}
	return out
}
