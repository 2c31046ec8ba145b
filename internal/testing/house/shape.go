package house

import (
	"bytes"
	"go/ast"
	"go/format"
	"strings"
)

// checkShape checks what a reader sees first: formatting, length, and whether
// the package says its job.
func (m *module) checkShape(p *pack) {
	documented, onlyTests := false, true
	for _, f := range p.files {
		formatted, err := format.Source(f.source)
		if err != nil || !bytes.Equal(formatted, f.source) {
			m.report(f.syntax.Package, "format", "not formatted by gofmt")
		}
		limit := maxLines
		if longer, ok := longFiles[f.path]; ok {
			limit = longer
		}
		if lines := bytes.Count(f.source, []byte("\n")); lines > limit && !f.test() && !ast.IsGenerated(f.syntax) {
			m.report(f.syntax.Package, "length", "%d lines, more than %d: which concept could have a file of its own?", lines, limit)
		}
		if !f.test() {
			onlyTests = false
			documented = documented || isPackageDoc(f)
		}
	}
	if !documented && !onlyTests {
		m.report(p.files[0].syntax.Package, "doc", "package %s doesn't say its job", p.path)
	}
}

// isPackageDoc says whether the file has a package comment of the usual form.
func isPackageDoc(f *file) bool {
	text := f.syntax.Doc.Text()
	if f.syntax.Name.Name == "main" {
		return text != ""
	}
	return strings.HasPrefix(text, "Package "+f.syntax.Name.Name+" ")
}
