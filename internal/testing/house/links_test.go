package house

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// heavy are packages that every process of a job would pay for, with tables, types and their
// initialisation, if the C library linked them.
var heavy = []string{
	"archive/zip", "compress/gzip", "crypto/tls", "crypto/x509", "database/sql", "encoding/gob", "encoding/xml",
	"expvar", "go/ast", "go/types", "html", "html/template", "image", "net/http", "net/rpc", "os/exec", "regexp",
	"runtime/pprof", "runtime/trace", "testing", "text/template",
}

// TestLibraryLinks keeps the C library, of which each process of a job starts one, small: of other
// modules it links what asks the kernel, and nothing else.
func TestLibraryLinks(t *testing.T) {
	list := exec.Command("go", "list", "-deps", "banyan/capi")
	list.Dir = "../../.."
	out, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	links := strings.Fields(string(out))
	if !slices.Contains(links, "banyan/internal/runtime/engine") {
		t.Fatalf("go list names %d packages, and not the engine", len(links))
	}
	for _, name := range links {
		switch {
		case slices.Contains(heavy, name):
			t.Errorf("the library links %s", name)
		case isForeign(name) && !strings.HasPrefix(name, "golang.org/x/sys/"):
			t.Errorf("the library links %s, of another module", name)
		}
	}
}
