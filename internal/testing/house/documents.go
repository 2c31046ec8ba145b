package house

import (
	"cmp"
	"fmt"
	"go/ast"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

// Documents are checked as the source is: what a document names must exist. CheckDocuments
// looks at each Markdown file of the module:
//
//   - relative links lead to a file, and anchors to a heading of it (link);
//   - paths that begin in a directory of the module's root exist, and so do Go files that code
//     spans name by the end of their path (path);
//   - Go symbols in code spans exist: pkg.Name and pkg.Type.Member where pkg is the name of a
//     package of the module, Type.Member where Type is one of its types, camelCase names that
//     stand alone, and tests by the beginning of their name (symbol);
//   - the map of the packages, architecture.md, has each package below internal/ and bench/ (map);
//   - "make target" names a target of the Makefile, and BANYAN_NAME a variable that a source
//     file or script reads (command).
//
// The command's own words and flags are checked in cmd/banyan, which knows its commands.
func CheckDocuments(root fs.FS) ([]Problem, error) {
	m, err := load(root)
	if err != nil {
		return nil, err
	}
	documents, err := Documents(root)
	if err != nil {
		return nil, err
	}
	facts, err := m.facts()
	if err != nil {
		return nil, err
	}
	var problems []Problem
	for _, d := range documents {
		report := func(line int, rule, format string, args ...any) {
			at := token.Position{Filename: d.Path, Line: line}
			problems = append(problems, Problem{at, rule, fmt.Sprintf(format, args...)})
		}
		facts.checkMerged(d, report)
		facts.checkMap(d, report)
		facts.checkLinks(d, documents, report)
		facts.checkPaths(d, report)
		for _, c := range d.Code() {
			facts.checkCode(c, report)
		}
	}
	slices.SortStableFunc(problems, func(a, b Problem) int {
		return cmp.Or(strings.Compare(a.Position.Filename, b.Position.Filename), cmp.Compare(a.Position.Line, b.Position.Line))
	})
	return problems, nil
}

type reporter func(line int, rule, format string, args ...any)

// facts are what a document may name.
type facts struct {
	root      fs.FS
	places    map[string]bool            // directories of the root
	goFiles   []string                   // paths
	packages  map[string][]*declarations // by the package's name
	types     map[string][]*declarations // by the name of an exported type: where it is declared
	inner     map[string]bool            // unexported names of functions, methods, types and fields
	tests     []string                   // names of tests, fuzz targets and benchmarks
	targets   map[string]bool            // of the Makefile
	variables map[string]bool            // BANYAN_… that a file other than a document names
}

// declarations are what a package declares at its top level.
type declarations struct {
	names   map[string]bool
	members map[string]map[string]bool // by type: methods and fields
	open    map[string]bool            // types that embed one of another package: any member may be its
	embeds  map[string][]string        // types of the package that a type embeds
}

var (
	environmentName = regexp.MustCompile(`\bBANYAN_[A-Z0-9_]*[A-Z0-9]`)
	targetLine      = regexp.MustCompile(`(?m)^([a-z][a-z0-9-]*):`)
)

func (m *module) facts() (*facts, error) {
	f := &facts{
		root: m.root, places: map[string]bool{}, packages: map[string][]*declarations{}, types: map[string][]*declarations{},
		inner: map[string]bool{}, targets: map[string]bool{}, variables: map[string]bool{},
	}
	for _, p := range m.packages {
		f.add(p)
	}
	entries, err := fs.ReadDir(m.root, ".")
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if e.IsDir() && e.Name() != "bin" && e.Name()[0] != '.' {
			f.places[e.Name()] = true
		}
	}
	if makefile, err := fs.ReadFile(m.root, "Makefile"); err == nil {
		for _, match := range targetLine.FindAllSubmatch(makefile, -1) {
			f.targets[string(match[1])] = true
		}
	}
	return f, f.findVariables()
}

// findVariables notes the names of environment variables in source files and scripts.
func (f *facts) findVariables() error {
	return fs.WalkDir(f.root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if name != "." && (entry.Name()[0] == '.' || entry.Name() == "bin") {
				return fs.SkipDir
			}
			return nil
		}
		if !slices.Contains([]string{".go", ".c", ".h", ".sh"}, path.Ext(name)) && name != "Makefile" {
			return nil
		}
		source, err := fs.ReadFile(f.root, name)
		for _, v := range environmentName.FindAll(source, -1) {
			f.variables[string(v)] = true
		}
		return err
	})
}

func (f *facts) add(p *pack) {
	d := &declarations{map[string]bool{}, map[string]map[string]bool{}, map[string]bool{}, map[string][]string{}}
	name := ""
	for _, file := range p.files {
		f.goFiles = append(f.goFiles, file.path)
		if !file.test() {
			name = file.syntax.Name.Name
		}
		for _, decl := range file.syntax.Decls {
			switch decl := decl.(type) {
			case *ast.FuncDecl:
				if file.test() {
					f.tests = append(f.tests, decl.Name.Name)
				} else {
					d.addFunc(decl)
				}
			case *ast.GenDecl:
				if !file.test() {
					d.addSpecs(decl.Specs)
				}
			}
		}
	}
	maps.Copy(f.inner, d.names)
	for _, members := range d.members {
		maps.Copy(f.inner, members)
	}
	if name == "" || name == "main" {
		return
	}
	f.packages[name] = append(f.packages[name], d)
	for t := range d.members {
		if ast.IsExported(t) {
			f.types[t] = append(f.types[t], d)
		}
	}
}

func (d *declarations) addFunc(decl *ast.FuncDecl) {
	if decl.Recv == nil {
		d.names[decl.Name.Name] = true
		return
	}
	if t := baseName(decl.Recv.List[0].Type); t != "" {
		d.membersOf(t)[decl.Name.Name] = true
	}
}

func (d *declarations) addSpecs(specs []ast.Spec) {
	for _, spec := range specs {
		switch spec := spec.(type) {
		case *ast.ValueSpec:
			for _, n := range spec.Names {
				d.names[n.Name] = true
			}
		case *ast.TypeSpec:
			t := spec.Name.Name
			d.names[t] = true
			d.membersOf(t)
			switch of := spec.Type.(type) {
			case *ast.StructType:
				d.addFields(t, of.Fields)
			case *ast.InterfaceType:
				d.addFields(t, of.Methods)
			case *ast.SelectorExpr:
				d.open[t] = true // another package's type under this name
			}
		}
	}
}

func (d *declarations) addFields(t string, fields *ast.FieldList) {
	for _, field := range fields.List {
		for _, n := range field.Names {
			d.membersOf(t)[n.Name] = true
		}
		if len(field.Names) > 0 {
			continue
		}
		if embedded := baseName(field.Type); embedded != "" {
			d.embeds[t] = append(d.embeds[t], embedded)
		} else {
			d.open[t] = true
		}
	}
}

func (d *declarations) membersOf(t string) map[string]bool {
	if d.members[t] == nil {
		d.members[t] = map[string]bool{}
	}
	return d.members[t]
}

func (d *declarations) has(t, member string) bool {
	return d.members[t][member] ||
		slices.ContainsFunc(d.embeds[t], func(e string) bool { return e == member || d.has(e, member) })
}

// baseName is the name of a type of the same package: of T, *T and T[A].
func baseName(e ast.Expr) string {
	switch e := e.(type) {
	case *ast.Ident:
		return e.Name
	case *ast.StarExpr:
		return baseName(e.X)
	case *ast.IndexExpr:
		return baseName(e.X)
	case *ast.IndexListExpr:
		return baseName(e.X)
	}
	return ""
}
