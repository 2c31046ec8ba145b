package scratch

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// KeptDir is where Build keeps what it has linked, below the module's directory. make clean
// removes it. scripts/library.sh takes the same lock there.
const KeptDir = "bin/test"

// Build puts programs of this module into the directory. Tests of several packages need the same
// ones, and to link one takes seconds. So Build keeps them in KeptDir, where go build finds by
// their build ids that they are up to date; the directory gets links, which stay what they are.
func (d *Directory) Build(packages ...string) error {
	root, err := ModuleRoot()
	if err != nil {
		return err
	}
	kept := filepath.Join(root, KeptDir)
	if err := os.MkdirAll(kept, 0o777); err != nil {
		return err
	}
	lock, err := os.OpenFile(filepath.Join(kept, "lock"), os.O_CREATE|os.O_RDWR, 0o666)
	if err != nil {
		return err
	}
	defer lock.Close()
	if err := syscall.Flock(int(lock.Fd()), syscall.LOCK_EX); err != nil {
		return &os.PathError{Op: "flock", Path: lock.Name(), Err: err}
	}
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Minute) // with a cold cache, beside other builds
	defer cancel()
	build := exec.CommandContext(ctx, "go", append([]string{"build", "-o", kept + "/"}, packages...)...)
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w\n%s", err, out)
	}
	for _, p := range packages {
		name := filepath.Base(p)
		if err := link(filepath.Join(kept, name), filepath.Join(d.Path, name)); err != nil {
			return err
		}
	}
	return nil
}

// ModuleRoot is the directory of this module.
func ModuleRoot() (string, error) {
	out, err := exec.Command("go", "env", "GOMOD").Output()
	if err != nil {
		return "", err
	}
	file := strings.TrimSpace(string(out))
	if filepath.Base(file) != "go.mod" {
		return "", errors.New("the directory isn't one of a module")
	}
	return filepath.Dir(file), nil
}

// link gives a file another name, or copies it if that is on another device.
func link(from, to string) error {
	if os.Link(from, to) == nil {
		return nil
	}
	source, err := os.Open(from)
	if err != nil {
		return err
	}
	defer source.Close()
	copied, err := os.OpenFile(to, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o755)
	if err != nil {
		return err
	}
	_, err = io.Copy(copied, source)
	return errors.Join(err, copied.Close())
}
