package recovery

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"banyan/internal/testing/cprogram"
)

// A replica that a replacement takes the place of leaves no trace in the files, nor does the death
// of its donor behind that. Files are open between safe points, not at them.
func TestFilesHeal(t *testing.T) {
	program := cprogram.Compile(t, "fileheal")
	undisturbed, healed := filepath.Join(t.TempDir(), "file"), filepath.Join(t.TempDir(), "file")
	cprogram.Job(t, 3, program, undisturbed, "150").Fine(t)
	o := heal(t, 1, nil, program, healed, "150")
	if o.Fine(t); o.Stdout != "done\n" || !strings.Contains(o.Stderr, "restored") {
		t.Error(o)
	}
	want, err := os.ReadFile(undisturbed)
	got, err2 := os.ReadFile(healed)
	if err != nil || err2 != nil || !bytes.Equal(got, want) {
		t.Errorf("%x, want %x (%v, %v)", got, want, err, err2)
	}
}
