package house

import (
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/types"
	"io"
	"os/exec"
	"path"
	"strings"
)

// checker finds out the types of the module's packages from their source, and
// takes the standard library's from the build cache.
type checker struct {
	module   *module
	standard types.Importer
	done     map[*pack]*checked
}

type checked struct {
	types *types.Package
	info  *types.Info
	err   error
}

func newChecker(m *module) *checker {
	if build.Default.GOROOT == "" { // this test was built with -trimpath
		if root, err := exec.Command("go", "env", "GOROOT").Output(); err == nil {
			build.Default.GOROOT = strings.TrimSpace(string(root))
		}
	}
	return &checker{m, importer.ForCompiler(m.files, "gc", nil), map[*pack]*checked{}}
}

// check returns the types in the non-test files of a package.
func (c *checker) check(p *pack) (*types.Info, error) {
	if c.done[p] == nil {
		c.done[p] = &checked{err: fmt.Errorf("import cycle through %s", p.path)} // until we know better
		c.done[p] = c.compute(p)
	}
	return c.done[p].info, c.done[p].err
}

func (c *checker) compute(p *pack) *checked {
	info := &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{},
		Uses:  map[*ast.Ident]types.Object{},
	}
	config := types.Config{Importer: c}
	result, err := config.Check(moduleName+"/"+p.path, c.module.files, c.selected(p), info)
	return &checked{result, info, err}
}

// selected returns the files that a build on this machine without tags would take.
func (c *checker) selected(p *pack) []*ast.File {
	context := build.Default
	context.JoinPath = path.Join
	context.OpenFile = func(name string) (io.ReadCloser, error) { return c.module.root.Open(name) }
	var files []*ast.File
	for _, f := range p.files {
		if ok, err := context.MatchFile(p.path, path.Base(f.path)); ok && err == nil && !f.test() {
			files = append(files, f.syntax)
		}
	}
	return files
}

// Import implements types.Importer.
func (c *checker) Import(name string) (*types.Package, error) {
	own, isOwn := strings.CutPrefix(name, moduleName+"/")
	if !isOwn {
		return c.standard.Import(name)
	}
	p := c.module.find(own)
	if p == nil {
		return nil, fmt.Errorf("no package %s", own)
	}
	_, err := c.check(p)
	return c.done[p].types, err
}
