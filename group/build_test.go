package group_test

import (
	"encoding/json"
	"errors"
	"go/ast"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// linked are the packages of this module that a program gets with package group: nothing of MPI, of
// jobs or of the simulators.
var linked = []string{
	"banyan/group", "banyan/internal/groupnode", "banyan/internal/groupnode/poller", "banyan/internal/groupnode/store",
	"banyan/internal/proto", "banyan/internal/proto/detector", "banyan/internal/proto/founding", "banyan/internal/proto/membership",
	"banyan/internal/runtime/handshake", "banyan/internal/runtime/seal", "banyan/internal/runtime/wire",
	"banyan/internal/runtime/wire/detection", "banyan/internal/runtime/wire/views", "banyan/internal/splitmix", "banyan/internal/topology",
}

// listed is a package as go list shows it.
type listed struct {
	ImportPath, Dir string
	GoFiles         []string
	ImportMap       map[string]string
	Standard        bool
}

// Package group is valid without cgo on the systems that its documentation names, and links few of
// our packages. It is type-checked together with all that it imports: to compile the standard
// library for other systems would take ten times as long.
func TestBuildsElsewhere(t *testing.T) {
	for _, system := range []string{"darwin", "windows"} {
		list := exec.Command("go", "list", "-deps", "-json=ImportPath,Dir,GoFiles,ImportMap,Standard", "banyan/group")
		list.Env = append(os.Environ(), "GOOS="+system, "GOARCH=arm64", "CGO_ENABLED=0")
		list.Stderr = os.Stderr
		out, err := list.StdoutPipe()
		if err == nil {
			err = list.Start()
		}
		if err != nil {
			t.Fatal(err)
		}
		known := imported{"unsafe": types.Unsafe}
		files := token.NewFileSet()
		for in := json.NewDecoder(out); ; {
			var p listed
			if err := in.Decode(&p); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				t.Fatal(err)
			}
			if strings.HasPrefix(p.ImportPath, "banyan/") && !slices.Contains(linked, p.ImportPath) {
				t.Errorf("%s: package group links %s", system, p.ImportPath)
			}
			if p.ImportPath != "unsafe" {
				known.check(t, system, files, p)
			}
		}
		if err := list.Wait(); err != nil {
			t.Errorf("%s: %v", system, err)
		}
		if known["banyan/group"] == nil {
			t.Errorf("%s: package group wasn't checked", system)
		}
	}
}

// imported are the packages that have been checked, by their paths.
type imported map[string]*types.Package

// importsOf is what one package sees: the standard library has its own copies of some modules.
type importsOf struct {
	imported
	paths map[string]string
}

func (i importsOf) Import(path string) (*types.Package, error) {
	if p, other := i.paths[path]; other {
		path = p
	}
	if p := i.imported[path]; p != nil {
		return p, nil
	}
	return nil, errors.New(path + " isn't checked yet")
}

// check checks a package, and the bodies of functions only if it is ours.
func (k imported) check(t *testing.T, system string, files *token.FileSet, p listed) {
	var parsed []*ast.File
	for _, f := range p.GoFiles {
		x, err := parser.ParseFile(files, filepath.Join(p.Dir, f), nil, parser.SkipObjectResolution)
		if err != nil {
			t.Errorf("%s: %v", system, err)
			return
		}
		parsed = append(parsed, x)
	}
	ours := strings.HasPrefix(p.ImportPath, "banyan/")
	conf := types.Config{
		Importer: importsOf{k, p.ImportMap}, IgnoreFuncBodies: !ours, FakeImportC: true, Sizes: types.SizesFor("gc", "arm64"),
		GoVersion: "", Error: func(err error) {
			if ours {
				t.Errorf("%s, checked on %s: %v", system, runtime.GOOS, err)
			}
		},
	}
	k[p.ImportPath], _ = conf.Check(p.ImportPath, files, parsed, nil)
}
