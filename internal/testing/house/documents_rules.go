package house

import (
	"go/ast"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

var link = regexp.MustCompile(`\]\(([^)\s]+)\)`)

// checkLinks checks where the relative links of a document lead.
func (f *facts) checkLinks(d Document, all []Document, report reporter) {
	for i, line := range d.prose() {
		for _, match := range link.FindAllStringSubmatch(line, -1) {
			target, anchor, _ := strings.Cut(match[1], "#")
			if strings.Contains(target, ":") {
				continue // another site
			}
			to := d.Path
			if target != "" {
				to = path.Join(path.Dir(d.Path), target)
			}
			if _, err := fs.Stat(f.root, to); err != nil {
				report(i+1, "link", "%s isn't there", match[1])
				continue
			}
			at := slices.IndexFunc(all, func(o Document) bool { return o.Path == to })
			if anchor != "" && at >= 0 && !slices.Contains(all[at].anchors(), anchor) {
				report(i+1, "link", "%s has no heading #%s", to, anchor)
			}
		}
	}
}

// checkMerged checks that no merge was left half done.
func (f *facts) checkMerged(d Document, report reporter) {
	for i, line := range d.Lines {
		if strings.HasPrefix(line, "<<<<<<< ") || strings.HasPrefix(line, ">>>>>>> ") {
			report(i+1, "merge", "%.7s is the mark of a conflict", line)
		}
	}
}

// packageMap is the document that says where things are.
const packageMap = "docs/design/architecture.md"

// mapped are the folders whose packages it names: each by its path, or by the end of it.
var mapped = regexp.MustCompile(`^(internal|bench)/`)

// checkMap checks that the map of the packages has all of them.
func (f *facts) checkMap(d Document, report reporter) {
	if d.Path != packageMap {
		return
	}
	text := strings.Join(d.Lines, "\n")
	dirs := map[string]bool{}
	for _, file := range f.goFiles {
		dirs[path.Dir(file)] = true
	}
	for _, dir := range slices.Sorted(maps.Keys(dirs)) {
		if mapped.MatchString(dir) && !strings.Contains(text, dir) && !strings.Contains(text, "`"+path.Base(dir)+"`") {
			report(1, "map", "%s isn't named", dir)
		}
	}
}

var (
	wholePath = regexp.MustCompile(`(?:^|[^\w./…-])(?:\./)?([a-z]+/[\w./*{},-]*[\w*}/])`)
	goFile    = regexp.MustCompile(`(?:^|[^\w./-])([\w/]+\.go)\b`)
)

// checkPaths checks the paths from the module's root that a document names anywhere.
func (f *facts) checkPaths(d Document, report reporter) {
	for i, line := range d.Lines {
		line = link.ReplaceAllString(line, "]")
		for _, match := range wholePath.FindAllStringSubmatch(line, -1) {
			name := strings.TrimRight(strings.TrimSuffix(match[1], "/..."), "/.")
			first, _, _ := strings.Cut(name, "/")
			if !f.places[first] || name == first {
				continue
			}
			for _, p := range alternatives(name) {
				if !f.exists(p) {
					report(i+1, "path", "there is no %s", p)
				}
			}
		}
	}
}

func (f *facts) exists(name string) bool {
	if strings.Contains(name, "*") {
		found, err := fs.Glob(f.root, name)
		return err == nil && len(found) > 0
	}
	_, err := fs.Stat(f.root, name)
	return err == nil
}

// alternatives are the names that a{b,c} stands for.
func alternatives(name string) []string {
	before, rest, ok := strings.Cut(name, "{")
	list, after, closed := strings.Cut(rest, "}")
	if !ok || !closed {
		return []string{name}
	}
	var all []string
	for _, one := range strings.Split(list, ",") {
		all = append(all, alternatives(before+strings.TrimSpace(one)+after)...)
	}
	return all
}

var (
	symbol   = regexp.MustCompile(`(?:^|[^\w./-])([A-Za-z]\w*)\.([A-Z]\w*)(?:\.([A-Za-z]\w*))?`)
	inner    = regexp.MustCompile(`^[a-z]+[A-Z][A-Za-z0-9]*$`)
	testName = regexp.MustCompile(`\b(?:Test|Fuzz)[A-Z]\w*`)
	making   = regexp.MustCompile(`^(?:\$ )?make ([a-zA-Z0-9= -]*)`)
)

// checkCode checks what a piece of code names.
func (f *facts) checkCode(c Code, report reporter) {
	if match := making.FindStringSubmatch(c.Text); match != nil {
		for _, target := range strings.Fields(match[1]) {
			if !strings.Contains(target, "=") && !f.targets[target] {
				report(c.Line, "command", "make has no target %s", target)
			}
		}
	}
	for _, v := range environmentName.FindAllString(c.Text, -1) {
		if !f.variables[v] {
			report(c.Line, "command", "nothing reads %s", v)
		}
	}
	for _, name := range testName.FindAllString(c.Text, -1) {
		if !slices.ContainsFunc(f.tests, func(t string) bool { return strings.HasPrefix(t, name) }) {
			report(c.Line, "symbol", "no test is called %s", name)
		}
	}
	if c.Block {
		return
	}
	if inner.MatchString(c.Text) && !f.inner[c.Text] {
		report(c.Line, "symbol", "nothing is called %s", c.Text)
	}
	for _, match := range goFile.FindAllStringSubmatch(c.Text, -1) {
		if !slices.ContainsFunc(f.goFiles, func(p string) bool { return p == match[1] || strings.HasSuffix(p, "/"+match[1]) }) {
			report(c.Line, "path", "there is no file …/%s", match[1])
		}
	}
	for _, match := range symbol.FindAllStringSubmatch(c.Text, -1) {
		if !f.known(match[1], match[2], match[3]) {
			report(c.Line, "symbol", "nothing is called %s", strings.TrimRight(strings.Join(match[1:], "."), "."))
		}
	}
}

// known says whether one of the module's packages or types of a name has what is asked for.
// What begins with another name isn't ours to know.
func (f *facts) known(first, second, third string) bool {
	packages := f.packages[first]
	inPackage := slices.ContainsFunc(packages, func(d *declarations) bool {
		return d.names[second] && (third == "" || !ast.IsExported(third) || anyHas([]*declarations{d}, second, third))
	})
	types := f.types[first]
	return inPackage || len(types) > 0 && anyHas(types, first, second) || len(packages) == 0 && len(types) == 0
}

// anyHas says whether one of the types of a name has a member. A type that embeds another module's
// may have any; it counts only where there is no other type of the name.
func anyHas(all []*declarations, t, member string) bool {
	open := !slices.ContainsFunc(all, func(d *declarations) bool { return !d.open[t] })
	return open || slices.ContainsFunc(all, func(d *declarations) bool { return d.has(t, member) })
}
