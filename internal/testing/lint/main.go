// Command lint runs the analyzers of staticcheck and those of go vet over packages:
//
//	go tool lint ./...
//
// Both parse and type-check all packages and what these import, 800 in all, which takes longer
// than vet's own checks. Here it is done once, as staticcheck does it: to it vet's analyzers are
// some more of its own. A finding has the name of its analyzer; a comment
// "//lint:ignore NAME reason" takes it back, also one of vet's.
//
// The analyzers of vet are those of the release of golang.org/x/tools that go.mod names, not of the
// Go that compiles. Staticcheck tells analyzers neither the path nor the version of the module.
package main

import (
	"log"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/suite/vet"
	"honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/lintcmd"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
	"honnef.co/go/tools/unused"
)

func main() {
	log.SetFlags(0)
	command := lintcmd.NewCommand("lint")
	command.ParseFlags(os.Args[1:])
	command.AddAnalyzers(simple.Analyzers...)
	command.AddAnalyzers(staticcheck.Analyzers...)
	command.AddAnalyzers(stylecheck.Analyzers...)
	command.AddAnalyzers(unused.Analyzer)
	command.AddAnalyzers(vetAnalyzers()...)
	command.Run()
}

// vetAnalyzers are those of go vet.
func vetAnalyzers() (all []*lint.Analyzer) {
	for _, a := range vet.Suite {
		complete := *a
		complete.Run = func(pass *analysis.Pass) (any, error) {
			p := *pass
			p.ReadFile = os.ReadFile
			p.IgnoredFiles = ignored(pass)
			return a.Run(&p)
		}
		all = append(all, &lint.Analyzer{Analyzer: &complete, Doc: &lint.RawDocumentation{Title: a.Doc, Severity: lint.SeverityError}})
	}
	return all
}

// ignored are the Go files beside those of a package, which a build for another system would have.
// Staticcheck doesn't tell them to analyzers; go vet does.
func ignored(pass *analysis.Pass) (files []string) {
	var own []string
	for _, f := range pass.Files {
		own = append(own, pass.Fset.Position(f.Package).Filename)
	}
	if len(own) == 0 {
		return nil
	}
	beside, _ := filepath.Glob(filepath.Join(filepath.Dir(own[0]), "*.go"))
	return slices.DeleteFunc(beside, func(name string) bool { return slices.Contains(own, name) })
}
