package installed

import (
	"bufio"
	"bytes"
	"context"
	"debug/elf"
	_ "embed"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"
)

var really = flag.Bool("installed", false, "test what make dist has made")

//go:embed make.sh
var makeScript string

//go:embed try.sh
var tryScript string

// places are the root of the source tree, and the directory of what make dist has made.
func places(t *testing.T) (tree, dist string) {
	t.Helper()
	if !*really {
		t.Skip("make test-dist runs it")
	}
	tree, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	return tree, filepath.Join(tree, "bin", "dist")
}

// files are those of a directory whose names match, at least one.
func files(t *testing.T, dir, pattern string) []string {
	t.Helper()
	found, err := filepath.Glob(filepath.Join(dir, pattern))
	if err != nil || len(found) == 0 {
		t.Fatalf("make dist has made no %s: %v", pattern, err)
	}
	return found
}

func output(t *testing.T, name string, args ...string) string {
	t.Helper()
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		t.Fatalf("%s %s: %v", name, strings.Join(args, " "), err)
	}
	return strings.TrimSpace(string(out))
}

// A clone in another directory, with nothing that the compiler has kept, gives the same bytes.
func TestSameBytes(t *testing.T) {
	tree, dist := places(t)
	if out := output(t, "git", "-C", tree, "status", "--porcelain", "--untracked-files=no"); out != "" {
		t.Skipf("the clone wouldn't have what isn't committed:\n%s", out)
	}
	want, err := os.ReadFile(filepath.Join(dist, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	clone, again := filepath.Join(t.TempDir(), "another", "clone"), filepath.Join(t.TempDir(), "dist")
	output(t, "git", "clone", "-q", tree, clone)
	var arches []string
	for _, f := range files(t, dist, "banyan_*.deb") {
		name := strings.TrimSuffix(f, ".deb")
		arches = append(arches, name[strings.LastIndexByte(name, '_')+1:])
	}
	build := exec.Command(filepath.Join(clone, "scripts/dist.sh"), arches...)
	build.Env = append(os.Environ(), "DIST="+again, "GOCACHE="+filepath.Join(t.TempDir(), "cache"), "GOFLAGS=", "TZ=Asia/Tokyo", "LC_ALL=C.UTF-8", "USER=another")
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("scripts/dist.sh: %v\n%s", err, out)
	}
	got, err := os.ReadFile(filepath.Join(again, "SHA256SUMS"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("the second build gave\n%s\nthe first one\n%s", got, want)
	}
}

// machines are the processors of packages, as programs name them.
var machines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// Each program and library of a package is for its processor, and none has a path of the source
// tree.
func TestPrograms(t *testing.T) {
	tree, dist := places(t)
	for _, deb := range files(t, dist, "banyan_*.deb") {
		dir := t.TempDir()
		output(t, "dpkg-deb", "-x", deb, dir)
		arch := output(t, "dpkg-deb", "-f", deb, "Architecture")
		var programs []string
		err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return err
			}
			text, err := os.ReadFile(name)
			if err != nil {
				return err
			}
			if bytes.Contains(text, []byte(tree+"/")) {
				t.Errorf("%s: %s has a path below %s", filepath.Base(deb), strings.TrimPrefix(name, dir), tree)
			}
			if !bytes.HasPrefix(text, []byte(elf.ELFMAG)) {
				return nil
			}
			programs = append(programs, filepath.Base(name))
			f, err := elf.NewFile(bytes.NewReader(text))
			if err != nil {
				return fmt.Errorf("%s: %w", name, err)
			}
			if f.Machine != machines[arch] {
				t.Errorf("%s: %s is for %v", filepath.Base(deb), strings.TrimPrefix(name, dir), f.Machine)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		slices.Sort(programs)
		want := []string{"banyan", "cg", "libbanyan-fti.so.1", "libbanyan-veloc.so.1", "libmpi_abi.so.1", "libmpifort_abi.so.1", "mpiexec"}
		if !slices.Equal(programs, want) {
			t.Errorf("%s has %q, want %q", filepath.Base(deb), programs, want)
		}
	}
}

// The package is all that a bare Debian needs.
func TestDebian(t *testing.T) {
	tree, dist := places(t)
	if os.Getuid() != 0 {
		t.Skip("only root makes a bare Debian")
	}
	arch := output(t, "dpkg", "--print-architecture")
	deb, tarball := files(t, dist, "banyan_*_"+arch+".deb")[0], files(t, dist, "banyan-*-linux-"+arch+".tar.gz")[0]
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Minute)
	defer cancel()
	cmd := Bare(ctx, makeScript, filepath.Join(tree, "internal/testing/installed"), dist, filepath.Base(deb), filepath.Base(tarball),
		output(t, "go", "env", "GOROOT"), output(t, "go", "env", "GOMODCACHE"))
	out, err := cmd.CombinedOutput()
	t.Logf("%s", out)
	if err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(tryScript) {
		if step, is := strings.CutPrefix(strings.TrimSpace(line), "ok "); is && !bytes.Contains(out, []byte("ok "+step+"\n")) {
			t.Errorf("no step %s", step)
		}
	}
}

// Whatever kills the test, nothing is left: no process, and nothing in room.
func TestNothingLeft(t *testing.T) {
	places(t)
	if os.Getuid() != 0 {
		t.Skip("only root makes a bare Debian")
	}
	before := entries(t)
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	const mark = "86399.25" // seconds; no other process sleeps for just so long
	cmd := Bare(ctx, "touch "+room+"/file; setsid sleep "+mark+" & echo started; wait")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stderr = os.Stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(stdout).ReadString('\n'); err != nil || line != "started\n" {
		t.Fatal(line, err)
	}
	for end := time.Now().Add(10 * time.Second); sleepers(t, mark) == 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("there is no sleeper: this test can't fail")
		}
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	cmd.Wait() // its error is the signal
	for end := time.Now().Add(10 * time.Second); sleepers(t, mark) > 0; time.Sleep(50 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("processes are left")
		}
	}
	if after := entries(t); !slices.Equal(after, before) {
		t.Errorf("%s has %q, and had %q", room, after, before)
	}
}

func entries(t *testing.T) (names []string) {
	t.Helper()
	all, err := os.ReadDir(room)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		names = append(names, e.Name())
	}
	return names
}

// sleepers counts the processes of sleep with this argument.
func sleepers(t *testing.T, mark string) (n int) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range lines {
		if text, err := os.ReadFile(name); err == nil && string(text) == "sleep\x00"+mark+"\x00" {
			n++
		}
	}
	return n
}
