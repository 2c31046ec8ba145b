package house

import (
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"slices"
	"strings"
)

// Problem is one place where a file breaks a rule.
type Problem struct {
	Position token.Position
	Rule     string // wings, dependencies, variables, words, width, pure, format, length, doc
	Text     string
}

func (p Problem) String() string {
	return fmt.Sprintf("%v: %s (%s)", p.Position, p.Text, p.Rule)
}

// Check reports every problem of the module whose root directory is given, in
// the order of the packages' paths.
func Check(root fs.FS) ([]Problem, error) {
	m, err := load(root)
	if err != nil {
		return nil, err
	}
	for _, p := range m.packages {
		m.checkImports(p)
		m.checkShape(p)
		m.checkVariables(p)
		m.checkWords(p)
		if matchesAny(pure, p.path) {
			m.checkPurity(p)
		}
	}
	return m.problems, m.checkTexts()
}

// module is the parsed source.
type module struct {
	root     fs.FS
	files    *token.FileSet
	packages []*pack // by path
	types    *checker
	problems []Problem
}

// pack is one directory with Go files.
type pack struct {
	path  string // relative to the module
	files []*file
}

type file struct {
	path   string
	source []byte
	syntax *ast.File
}

func (f *file) test() bool { return strings.HasSuffix(f.path, "_test.go") }

func (m *module) report(at token.Pos, rule, format string, args ...any) {
	m.problems = append(m.problems, Problem{m.files.Position(at), rule, fmt.Sprintf(format, args...)})
}

// load parses every Go file below root, except in hidden directories, in those named testdata, and
// in bin, where make build puts a copy of some.
func load(root fs.FS) (*module, error) {
	m := &module{root: root, files: token.NewFileSet()}
	m.types = newChecker(m)
	byPath := map[string]*pack{}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (name == "bin" || entry.Name() == "testdata" || entry.Name()[0] == '.'):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".go":
			return nil
		}
		source, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		syntax, err := parser.ParseFile(m.files, name, source, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return err
		}
		dir := path.Dir(name)
		if byPath[dir] == nil {
			byPath[dir] = &pack{path: dir}
			m.packages = append(m.packages, byPath[dir])
		}
		byPath[dir].files = append(byPath[dir].files, &file{name, source, syntax})
		return nil
	})
	slices.SortFunc(m.packages, func(a, b *pack) int { return strings.Compare(a.path, b.path) })
	return m, err
}

func (m *module) find(path string) *pack {
	i := slices.IndexFunc(m.packages, func(p *pack) bool { return p.path == path })
	if i < 0 {
		return nil
	}
	return m.packages[i]
}

// matches says whether a package's path fits a pattern of the tables.
func matches(pattern, name string) bool {
	if parent, rest := strings.CutSuffix(pattern, "/..."); rest {
		return name == parent || strings.HasPrefix(name, parent+"/")
	}
	ok, err := path.Match(pattern, name)
	if err != nil {
		panic(err) // a malformed table
	}
	return ok
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool { return matches(p, name) })
}
