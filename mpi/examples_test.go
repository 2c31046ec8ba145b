package mpi_test

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"testing"
)

// shownElsewhere are the names that no example can run: they end the process. The program with
// which the package's documentation opens has Main; internal/testing/published builds and runs it.
var shownElsewhere = map[string]bool{"Main": true, "Comm_Abort": true}

// shownTogether are the names of what needs a launcher, by the example that shows them. TestDynamic
// runs these examples, as programs.
var shownTogether = map[string][]string{
	"Comm_Spawn":  {"Program", "Connection", "Connection_Own", "Connection_Other", "Connection_Disconnect", "Comm_Parent"},
	"Comm_Accept": {"Comm_OpenPort", "Comm_ClosePort", "Comm_Connect", "Comm_Publish", "Comm_Withdraw", "Comm_Lookup"},
}

// Each exported function, method and type has an example of its name that runs, and each exported
// constant and variable is used in one.
func TestExamples(t *testing.T) {
	fset := token.NewFileSet()
	var source, tests []*ast.File
	entries, err := os.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), ".go") {
			continue
		}
		f, err := parser.ParseFile(fset, e.Name(), nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if strings.HasSuffix(e.Name(), "_test.go") {
			tests = append(tests, f)
		} else {
			source = append(source, f)
		}
	}
	runs, uses := map[string]bool{}, map[string]bool{}
	for _, e := range doc.Examples(tests...) {
		together, launched := shownTogether[e.Name]
		if e.Output == "" && !e.EmptyOutput && !launched {
			t.Errorf("Example%s says no output, so it doesn't run", e.Name)
			continue
		}
		runs[e.Name] = true
		selected := map[string]bool{}
		ast.Inspect(e.Code, func(n ast.Node) bool {
			if s, is := n.(*ast.SelectorExpr); is {
				selected[s.Sel.Name] = true
				if p, is := s.X.(*ast.Ident); is && p.Name == "mpi" {
					uses[s.Sel.Name] = true
				}
			}
			return true
		})
		for _, name := range together {
			_, method, _ := strings.Cut(name, "_")
			runs[name] = method == "" || selected[method]
		}
	}
	need := func(name string) {
		if !runs[name] && !shownElsewhere[name] {
			t.Errorf("there is no Example%s that runs", name)
		}
	}
	names := 0
	for _, f := range source {
		for _, d := range f.Decls {
			switch d := d.(type) {
			case *ast.FuncDecl:
				if name, exported := exportedFunc(d); exported {
					names++
					need(name)
				}
			case *ast.GenDecl:
				for _, s := range d.Specs {
					switch s := s.(type) {
					case *ast.TypeSpec:
						if s.Name.IsExported() {
							names++
							need(s.Name.Name)
						}
					case *ast.ValueSpec:
						for _, n := range s.Names {
							if n.IsExported() && !uses[n.Name] {
								t.Errorf("no example that runs uses %s", n.Name)
							}
						}
					}
				}
			}
		}
	}
	if names < 100 {
		t.Errorf("only %d names were looked at", names)
	}
}

// exportedFunc is the name that an example of a function has.
func exportedFunc(d *ast.FuncDecl) (name string, exported bool) {
	if d.Recv == nil {
		return d.Name.Name, d.Name.IsExported()
	}
	t := d.Recv.List[0].Type
	if p, is := t.(*ast.StarExpr); is {
		t = p.X
	}
	of, is := t.(*ast.Ident)
	if !is {
		return "", false
	}
	return of.Name + "_" + d.Name.Name, of.IsExported() && d.Name.IsExported()
}
