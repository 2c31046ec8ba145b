package scratch

import (
	"os"
	"path/filepath"
	"testing"
	"time"
)

// The next tests remove what killed ones have left, and neither what is in use nor what is new.
func TestSweep(t *testing.T) {
	parent := t.TempDir()
	used, err := within(parent, 0)
	if err != nil {
		t.Fatal(err)
	}
	left, err := within(parent, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(left.Path, "program"), []byte("x"), 0o755); err != nil {
		t.Fatal(err)
	}
	left.lock.Close() // as the kernel does

	young, err := within(parent, time.Hour)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left.Path); err != nil {
		t.Error("it was removed as if it were old:", err)
	}
	if err := young.Remove(); err != nil {
		t.Error(err)
	}
	next, err := within(parent, 0)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(left.Path); !os.IsNotExist(err) {
		t.Error("it is still there:", err)
	}
	if _, err := os.Stat(used.Path); err != nil {
		t.Error("it was in use:", err)
	}
	for _, d := range []*Directory{used, next, nil} {
		if err := d.Remove(); err != nil {
			t.Error(err)
		}
	}
	if rest, _ := os.ReadDir(parent); len(rest) > 0 {
		t.Errorf("%v are left", rest)
	}
}

// A program is linked once, and each directory has it for itself.
func TestBuild(t *testing.T) {
	root, err := ModuleRoot()
	if err != nil {
		t.Fatal(err)
	}
	var kept []os.FileInfo
	for range 2 {
		d := &Directory{Path: t.TempDir()}
		if err := d.Build("banyan/examples/hello"); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(d.Path, "hello")
		if info, err := os.Stat(path); err != nil || info.Mode()&0o100 == 0 {
			t.Fatal(info, err)
		}
		info, err := os.Stat(filepath.Join(root, KeptDir, "hello"))
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(path); err != nil {
			t.Fatal(err)
		}
		kept = append(kept, info)
	}
	if !os.SameFile(kept[0], kept[1]) {
		t.Error("the second was linked anew")
	}
	d := &Directory{Path: t.TempDir()}
	if err := d.Build("banyan/examples/nothing"); err == nil {
		t.Error("what isn't there was built")
	}
}
