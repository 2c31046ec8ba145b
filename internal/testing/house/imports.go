package house

import (
	"slices"
	"strconv"
	"strings"
)

// checkImports holds the files of a package against wings, bans and dependencies.
func (m *module) checkImports(p *pack) {
	own := wingOf(p.path)
	if own == nil {
		m.report(p.files[0].syntax.Package, "wings", "package %s belongs to no wing", p.path)
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
			if imported, ofModule := strings.CutPrefix(name, moduleName+"/"); ofModule {
				if why := refused(own, p.path, imported); why != "" {
					m.report(spec.Pos(), "wings", "%s may not import %s: %s", p.path, imported, why)
				}
			} else if isForeign(name) && !isUser(p.path, name) {
				m.report(spec.Pos(), "dependencies", "%s may not import %s", p.path, name)
			}
		}
	}
}

// wingOf is the wing of a package, nil if it has none.
func wingOf(path string) *wing {
	i := slices.IndexFunc(wings, func(w wing) bool { return matchesAny(w.packages, path) })
	if i < 0 {
		return nil
	}
	return &wings[i]
}

// refused says why a package of a wing may not import another of the module, "" if it may.
func refused(own *wing, path, imported string) string {
	for _, b := range bans {
		if matchesAny(b.packages, path) && matchesAny(b.imports, imported) {
			return b.reason
		}
	}
	other := wingOf(imported)
	if other != nil && (other == own || slices.Contains(own.imports, other.name)) {
		return ""
	}
	return "its wing, " + own.name + ", imports only " + strings.Join(append(slices.Clone(own.imports), "itself"), ", ")
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
