// Package container tests the files that make images of programs.
package container

import (
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"
)

const root = "../.."

// instruction is one instruction of the Containerfile, its lines joined.
type instruction struct {
	stage      string // that it is part of
	name, args string
}

// instructions reads the Containerfile.
func instructions(t *testing.T) (all []instruction) {
	t.Helper()
	text, err := os.ReadFile("Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	joined := strings.ReplaceAll(string(text), "\\\n", " ")
	stage := ""
	for _, line := range strings.Split(joined, "\n") {
		name, args, _ := strings.Cut(strings.TrimSpace(line), " ")
		if name == "" || name[0] == '#' {
			continue
		}
		if f := strings.Fields(args); name == "FROM" {
			if len(f) != 3 || f[1] != "AS" {
				t.Fatalf("a stage has no name: %s", line)
			}
			stage = f[2]
		}
		all = append(all, instruction{stage, name, args})
	}
	return all
}

// What the Containerfile copies from the source tree is there, and so are the stages that it copies
// from.
func TestCopiesWhatThereIs(t *testing.T) {
	stages, copies := map[string]bool{}, 0
	for _, i := range instructions(t) {
		switch i.name {
		case "FROM":
			if base := strings.Fields(i.args)[0]; base[0] != '$' && !stages[base] {
				t.Errorf("FROM %s: there is no such stage before it", base)
			}
			stages[i.stage] = true
		case "COPY":
			copies++
			words := strings.Fields(i.args)
			if from, is := strings.CutPrefix(words[0], "--from="); is {
				if !stages[from] || from == i.stage {
					t.Errorf("COPY %s: there is no such stage before it", i.args)
				}
				continue
			}
			for _, source := range words[:len(words)-1] {
				if _, err := os.Stat(filepath.Join(root, source)); err != nil {
					t.Errorf("COPY %s: %v", i.args, err)
				}
			}
		}
	}
	if copies < 5 {
		t.Errorf("only %d instructions copy", copies)
	}
}

// Commands that stand for files of the source tree, or of an installation, are among them.
func TestRunsWhatThereIs(t *testing.T) {
	library, err := os.ReadFile(filepath.Join(root, "scripts/library.sh"))
	if err != nil {
		t.Fatal(err)
	}
	installed := regexp.MustCompile(`/opt/banyan/bin/(\w+)`)
	source := regexp.MustCompile(`(?:^| )((?:scripts|examples)/[\w./]+)`)
	found := 0
	for _, i := range instructions(t) {
		if i.name != "RUN" {
			continue
		}
		for _, m := range installed.FindAllStringSubmatch(i.args, -1) {
			found++
			if !strings.Contains(string(library), " "+m[1]+" ") {
				t.Errorf("RUN %s: scripts/library.sh installs no %s", i.args, m[1])
			}
		}
		for _, m := range source.FindAllStringSubmatch(i.args, -1) {
			found++
			if _, err := os.Stat(filepath.Join(root, m[1])); err != nil {
				t.Errorf("RUN %s: %v", i.args, err)
			}
		}
	}
	if found < 3 {
		t.Errorf("only %d names", found)
	}
}

// Every stage but the last is used by another or named in the help at the top.
func TestStagesAreUsed(t *testing.T) {
	text, err := os.ReadFile("Containerfile")
	if err != nil {
		t.Fatal(err)
	}
	all := instructions(t)
	for _, i := range all {
		if i.name == "FROM" && i.stage != all[len(all)-1].stage {
			uses := regexp.MustCompile(`(?:--from=|--target |FROM )` + i.stage + `\b`)
			if !uses.Match(text) {
				t.Errorf("nothing uses the stage %s", i.stage)
			}
		}
	}
}

// ssh and sshd accept their files, and agree on the port.
func TestSSHConfigurations(t *testing.T) {
	sshd, err := exec.LookPath("/usr/sbin/sshd")
	if err != nil {
		t.Skip("sshd isn't installed")
	}
	dir := t.TempDir()
	key := filepath.Join(dir, "id_rsa")
	if out, err := exec.Command("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", key).CombinedOutput(); err != nil {
		t.Fatalf("ssh-keygen: %v\n%s", err, out)
	}
	// In a container the job's key is at the place that the file names.
	daemon := exec.Command(sshd, "-T", "-f", "sshd_config", "-h", key)
	if syscall.Getuid() == 0 {
		if _, err := os.Stat("/run/sshd"); err != nil {
			t.Skip("as root sshd wants /run/sshd")
		}
	}
	out, err := daemon.CombinedOutput()
	if err != nil {
		t.Fatalf("sshd: %v\n%s", err, out)
	}
	client, err := exec.Command("ssh", "-F", "ssh_config", "-G", "worker").CombinedOutput()
	if err != nil {
		t.Fatalf("ssh: %v\n%s", err, client)
	}
	for _, want := range []string{"port 2222", "passwordauthentication no", "hostkey /home/mpiuser/.ssh/id_rsa"} {
		if !strings.Contains(string(out), want) {
			t.Errorf("sshd doesn't say %s", want)
		}
	}
	for _, want := range []string{"port 2222", "batchmode yes", "stricthostkeychecking false"} {
		if !strings.Contains(string(client), want) {
			t.Errorf("ssh doesn't say %s", want)
		}
	}
}

// Sessions find the command by the same PATH as the containers.
func TestPath(t *testing.T) {
	text, err := os.ReadFile("sshd_config")
	if err != nil {
		t.Fatal(err)
	}
	for _, i := range instructions(t) {
		if p, is := strings.CutPrefix(i.args, "PATH="); is && i.name == "ENV" {
			if !strings.Contains(string(text), "\nSetEnv PATH="+p+"\n") {
				t.Errorf("sshd doesn't set PATH=%s", p)
			}
			if first := path.Dir(strings.Split(p, ":")[0]); first != "/opt/banyan" {
				t.Errorf("Banyan isn't first in %s", p)
			}
			return
		}
	}
	t.Error("the image sets no PATH")
}
