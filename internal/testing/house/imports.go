package house

import (
	"slices"
	"strconv"
	"strings"
)

// checkImports holds the files of a package against layers and dependencies.
func (m *module) checkImports(p *pack) {
	row := slices.IndexFunc(layers, func(l layer) bool { return matches(l.packages, p.path) })
	if row < 0 {
		m.report(p.files[0].syntax.Package, "layers", "package %s has no row in the table of layers", p.path)
		return
	}
	for _, f := range p.files {
		if f.test() {
			continue
		}
		for _, spec := range f.syntax.Imports {
			name, err := strconv.Unquote(spec.Path.Value)
			if err != nil {
				continue // the compiler says so
			}
			switch own, isOwn := strings.CutPrefix(name, moduleName+"/"); {
			case isOwn:
				if !matchesAny(layers[row].imports, own) {
					m.report(spec.Pos(), "layers", "%s may not import %s", p.path, own)
				}
			case isForeign(name):
				if !isUser(p.path, name) {
					m.report(spec.Pos(), "dependencies", "%s may not import %s", p.path, name)
				}
			}
		}
	}
}

// isForeign tells other modules, which begin with a domain, from the standard library.
func isForeign(name string) bool {
	first, _, _ := strings.Cut(name, "/")
	return strings.Contains(first, ".")
}

func isUser(path, imported string) bool {
	return slices.ContainsFunc(dependencies, func(d dependency) bool {
		return matches(d.module+"/...", imported) && matchesAny(d.users, path)
	})
}
