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
