package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// list is a list of words that the Makefile sets.
func list(t *testing.T, name, separator string) []string {
	t.Helper()
	text, err := os.ReadFile("../../../Makefile")
	if err != nil {
		t.Fatal(err)
	}
	m := regexp.MustCompile(`(?m)^` + name + ` := ((?:.*\\\n)*.*)$`).FindSubmatch(text)
	if m == nil {
		t.Fatalf("the Makefile has no %s", name)
	}
	return strings.FieldsFunc(strings.ReplaceAll(string(m[1]), "\\\n", " "), func(r rune) bool { return strings.ContainsRune(separator, r) })
}

// differing are the tests of a package that aren't the same under the race detector: they are
// shorter there, or skip what they count. Another name stands for a suite that does.
func differing(t *testing.T, dir string, marks *regexp.Regexp) (names []string) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(dir, "*_test.go"))
	if err != nil || len(paths) == 0 {
		t.Fatal(dir, err)
	}
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		files := token.NewFileSet()
		f, err := parser.ParseFile(files, path, text, 0)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			if fn, is := d.(*ast.FuncDecl); is && marks.Match(text[files.Position(fn.Pos()).Offset:files.Position(fn.End()).Offset]) {
				names = append(names, fn.Name.Name)
			}
		}
	}
	return names
}

// TestUnraced compares the Makefile's lists with the tests: no test is left to the race detector
// that does less there.
func TestUnraced(t *testing.T) {
	var unraced, found []string
	for _, name := range list(t, "unraced", "|") {
		test, _, _ := strings.Cut(name, "/")
		unraced = append(unraced, strings.Trim(test, "^$"))
	}
	for _, dir := range list(t, "mostly_raced", " ") {
		for _, name := range differing(t, "../../../"+dir, regexp.MustCompile(`testing\.Short\(|AllocsPerRun\(|raceEnabled|transporttest\.Run\(`)) {
			found = append(found, name)
			if !slices.Contains(unraced, name) {
				t.Errorf("%s: %s does less under the race detector: it belongs to unraced in the Makefile", dir, name)
			}
		}
	}
	for _, name := range unraced {
		if !slices.Contains(found, name) {
			t.Errorf("%s, in unraced of the Makefile, is no test that does less under the race detector", name)
		}
	}
	for _, dir := range list(t, "raced", " \t") {
		for _, name := range differing(t, "../../../"+dir, regexp.MustCompile(`testing\.Short\(|raceEnabled|transporttest\.Run\(`)) {
			t.Errorf("%s: %s does less under the race detector, which alone runs it", dir, name)
		}
	}
}
