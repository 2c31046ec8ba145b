package console

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// divertTo is a launcher's screen on a file. told is what was said to be shown for good.
func divertTo(t *testing.T, path string) (s *Screen, d *Diverted, told func(rank int) int64) {
	t.Helper()
	s = NewHub().Screen(false)
	d, err := s.DivertTo(Stdout, path, "job-1")
	if err != nil || d == nil {
		t.Fatal(d, err)
	}
	var mu sync.Mutex
	shown := make(positions)
	s.OnShown(func(rank int, stderr bool, n int64) {
		mu.Lock()
		defer mu.Unlock()
		shown.set(rank, n)
	})
	return s, d, func(rank int) int64 {
		mu.Lock()
		defer mu.Unlock()
		return shown[rank]
	}
}

// A launcher is lost whose last pieces no agent has heard of. The next one is given them again, and
// leaves them out, as far as they are there.
func TestNextLauncherGoesOnWithAFile(t *testing.T) {
	var lines []string
	for i := range 100 {
		lines = append(lines, fmt.Sprintf("line %d\n", i))
	}
	whole := strings.Join(lines, "")
	path := filepath.Join(t.TempDir(), "out")
	s, d, told := divertTo(t, path)
	at := int64(0)
	for _, line := range lines[:60] {
		if err := s.Print(0, false, at, []byte(line)); err != nil {
			t.Fatal(err)
		}
		at += int64(len(line))
	}
	d.Close()
	if told(0) != at {
		t.Errorf("%d bytes are shown, not %d", told(0), at)
	}
	// A power cut: the end of the file wasn't on the disk, or isn't what was written.
	for _, harm := range []func() error{
		func() error { return nil },
		func() error { return os.Truncate(path, at-100) },
		func() error {
			b, err := os.ReadFile(path)
			if err == nil {
				copy(b[len(b)-50:], make([]byte, 50))
				err = os.WriteFile(path, b, 0o600)
			}
			return err
		},
	} {
		if err := harm(); err != nil {
			t.Fatal(err)
		}
		s, d, told = divertTo(t, path)
		from := at / 2 // what agents have kept
		for n := 0; from < int64(len(whole)) && n < 40; n++ {
			k := min(int64(7+n), int64(len(whole))-from)
			if err := s.Print(0, false, from, []byte(whole[from:from+k])); err != nil {
				t.Fatal(err)
			}
			from += k
		}
		d.Close()
		if told(0) != from {
			t.Errorf("%d bytes are shown, not %d", told(0), from)
		}
		at = from
		if b, _ := os.ReadFile(path); string(b) != whole[:at] {
			t.Fatalf("%d bytes\n%s\nof which there should be %d", len(b), b, at)
		}
	}
	d.Finish()
	if _, err := os.Stat(path + sidecarSuffix); err == nil {
		t.Error("the sidecar stays")
	}
}

// A device is left to others, and a file that can't be made is an error.
func TestDivertedElsewhere(t *testing.T) {
	if d, err := NewHub().Screen(false).DivertTo(Stdout, os.DevNull, "job-1"); d != nil || err != nil {
		t.Error(d, err)
	}
	if _, err := NewHub().Screen(false).DivertTo(Stdout, filepath.Join(t.TempDir(), "no", "out"), "job-1"); err == nil {
		t.Error("a file in no directory")
	}
}
