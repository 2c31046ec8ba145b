package jobdir

import (
	"os"
	"testing"
	"time"
)

// Directories that nobody holds are removed by the next owner, unless they are young or of another
// kind.
func TestDirectory(t *testing.T) {
	parent := t.TempDir()
	made := func(kind string) *Directory {
		d, err := Make(parent, kind)
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	a, left, young, other := made("test-"), made("test-"), made("test-"), made("other-")
	old := time.Now().Add(-time.Hour)
	for _, d := range []*Directory{a, left, other} {
		if err := os.Chtimes(d.Path, old, old); err != nil {
			t.Fatal(err)
		}
	}
	for _, d := range []*Directory{left, young, other} {
		d.lock.Close() // as the kernel does when the owner is killed
	}
	b := made("test-")
	there := func(d *Directory) bool {
		info, err := os.Stat(d.Path)
		return err == nil && info.Mode().Perm() == 0o700
	}
	if !there(a) || there(left) || !there(young) || !there(other) || !there(b) {
		t.Errorf("owned %v, left %v, young %v, other %v, new %v", there(a), there(left), there(young), there(other), there(b))
	}
	if err := b.Remove(); err != nil || there(b) {
		t.Error(err)
	}
	if err := RemoveLeft(a.Path, "test-"); err != nil || there(a) {
		t.Error(err)
	}
	if err := RemoveLeft(other.Path, "test-"); err == nil || !there(other) {
		t.Error("another directory was removed")
	}
}
