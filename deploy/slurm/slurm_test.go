// Package slurm tests the batch scripts of this folder.
package slurm

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"banyan/internal/job/env"
)

// unknown is an option that no command of Slurm has. The commands complain of the first option that
// they don't know. So they know all options that stand before it if they complain of it.
const unknown = "--not-an-option"

// scripts are the batch scripts, by name.
func scripts(t *testing.T) map[string]string {
	names, err := filepath.Glob("*.sbatch")
	if err != nil || len(names) == 0 {
		t.Fatal("there are no scripts", err)
	}
	all := map[string]string{}
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		all[name] = string(text)
	}
	return all
}

func TestScriptsAreBash(t *testing.T) {
	for name := range scripts(t) {
		if out, err := exec.Command("bash", "-n", name).CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	}
}

// slurm runs a command of Slurm that reads options. It needs a configuration, but no cluster.
func slurm(t *testing.T, command ...string) string {
	t.Helper()
	if _, err := exec.LookPath(command[0]); err != nil {
		t.Skip("Slurm isn't installed")
	}
	conf := filepath.Join(t.TempDir(), "slurm.conf")
	if err := os.WriteFile(conf, []byte("ClusterName=none\nSlurmctldHost=localhost\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(command[0], command[1:]...)
	cmd.Env = append(os.Environ(), "SLURM_CONF="+conf)
	out, _ := cmd.CombinedOutput()
	return string(out)
}

func TestSlurmKnowsTheOptionsOfSbatch(t *testing.T) {
	lines := regexp.MustCompile(`(?m)^#SBATCH .*\n`)
	for name, text := range scripts(t) {
		all := lines.FindAllStringIndex(text, -1)
		if len(all) == 0 {
			t.Fatalf("%s has no options", name)
		}
		end := all[len(all)-1][1]
		script := filepath.Join(t.TempDir(), name)
		if err := os.WriteFile(script, []byte(text[:end]+"#SBATCH "+unknown+"\n"+text[end:]), 0o700); err != nil {
			t.Fatal(err)
		}
		if out := slurm(t, "sbatch", "--test-only", script); !strings.Contains(out, "unrecognized option '"+unknown+"'") {
			t.Errorf("%s: sbatch says %q", name, out)
		}
	}
}

func TestSlurmKnowsTheOptionsOfSrun(t *testing.T) {
	line := regexp.MustCompile(`(?m)^(?:exec )?srun (.*) "\$@"$`)
	found := false
	for name, text := range scripts(t) {
		for _, match := range line.FindAllStringSubmatch(text, -1) {
			found = true
			options := append(strings.Fields(match[1]), unknown, "true")
			if out := slurm(t, append([]string{"srun"}, options...)...); !strings.Contains(out, "unrecognized option '"+unknown+"'") {
				t.Errorf("%s: srun says %q", name, out)
			}
		}
	}
	if !found {
		t.Error("no script has a line that begins with srun")
	}
}

// The scripts refuse sizes that can't be replicated, before anything starts. srun is a stand-in.
func TestSizes(t *testing.T) {
	dir := t.TempDir()
	standIn := "#!/bin/sh\necho replicas $" + env.Replicas + " spares $" + env.Spares + ": \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "srun"), []byte(standIn), 0o700); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		tasks, nodes string
		fails        bool
		want         string
	}{
		{"40", "5", false, "replicas 2 spares 8: --mpi=pmi2"},
		{"8", "2", false, "replicas 2 spares : --mpi=pmi2"},
		{"9", "3", false, "replicas 2 spares 3: "},
		{"12", "4", true, "12 tasks with 3 spares aren't ranks of two replicas"},
		{"7", "2", true, "7 tasks don't divide evenly into 2 nodes"},
		{"", "2", true, "run this with sbatch"},
	} {
		cmd := exec.Command("bash", "pmi2.sbatch", "./program")
		cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "SLURM_NTASKS="+c.tasks, "SLURM_JOB_NUM_NODES="+c.nodes, env.Spares+"=")
		out, err := cmd.CombinedOutput()
		if (err != nil) != c.fails || !strings.Contains(string(out), c.want) {
			t.Errorf("%s tasks on %s nodes: %v, %q; want %q", c.tasks, c.nodes, err, out, c.want)
		}
	}
}
