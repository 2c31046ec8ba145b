package check

import (
	"os"
	"path/filepath"
	"testing"
)

func TestAddress(t *testing.T) {
	a := Address{"/a+0x/b", 0x1f}
	if b, ok := parseAddress(a.String()); !ok || a != b {
		t.Errorf("%v became %v", a, b)
	}
	for _, no := range []string{"", "main.go:7", "a+0x", "a+0xg", "+0x12345678901234567"} {
		if b, ok := parseAddress(no); ok {
			t.Errorf("%q is %v", no, b)
		}
	}
}

// The name of an address has what its file tells. (capi/test has files that tell lines.)
func TestSources(t *testing.T) {
	var files sources
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	broken := filepath.Join(t.TempDir(), "broken")
	if err := os.WriteFile(broken, []byte("\x7fELF"), 0o600); err != nil {
		t.Fatal(err)
	}
	for where, want := range map[string]string{
		"main.go:7":          "main.go:7",
		"":                   "",
		"/no/such/file+0x1f": "file+0x1f",
		broken + "+0x1":      "broken+0x1",
		self + "+0x0":        filepath.Base(self) + "+0x0",
		self + "+0x8":        filepath.Base(self) + "+0x8",
	} {
		for range 2 { // the second time from the cache
			if got := files.name(where); got != want {
				t.Errorf("%s is %q, not %q", where, got, want)
			}
		}
	}
}
