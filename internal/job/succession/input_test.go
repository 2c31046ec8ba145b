package succession

import (
	"io"
	"os"
	"path/filepath"
	"testing"
)

// The next launcher reads a job's input where the one before has left it, if that is the same file.
func TestInputFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "in")
	if err := os.WriteFile(path, []byte("0123456789"), 0o600); err != nil {
		t.Fatal(err)
	}
	file, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	file.Seek(2, io.SeekStart) // something else has read that
	f := InputFile(file)
	io.ReadAll(file)
	rest, err := f.Open(3)
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(rest); string(b) != "56789" || err != nil {
		t.Errorf("%q %v", b, err)
	}
	if err := os.WriteFile(path, []byte("0123456789!"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := f.Open(3); err == nil {
		t.Error("another file is taken")
	}
	os.Remove(path)
	if _, err := f.Open(3); err == nil {
		t.Error("a file that isn't there is taken")
	}
	if f := InputFile(file); f != (File{}) {
		t.Errorf("a file that was removed: %+v", f)
	}
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	defer w.Close()
	f = InputFile(r)
	if _, err := f.Open(0); err == nil {
		t.Error("a pipe is a file")
	}
}
