package house

import (
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

func TestCamelWords(t *testing.T) {
	for name, want := range map[string]string{
		"spareLeaderLost": "spare Leader Lost", "HTTPServer": "HTTP Server", "MPI_BCAST": "MPI BCAST",
		"x": "x", "newID": "new ID", "_": "", "a__b": "a b",
	} {
		if got := strings.Join(camelWords(name), " "); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
}

// TestWordsBite uses each retired word where it is refused and where it isn't.
func TestWordsBite(t *testing.T) {
	check := func(name, source string) []string {
		t.Helper()
		root := fstest.MapFS{name: {Data: []byte(source)}}
		m, err := load(root)
		if err != nil {
			t.Fatal(err)
		}
		for _, p := range m.packages {
			m.checkWords(p)
		}
		if err := m.checkTexts(); err != nil {
			t.Fatal(err)
		}
		var rules []string
		for _, p := range m.problems {
			rules = append(rules, p.Rule)
		}
		return rules
	}
	const head = "// Package a is a snippet.\npackage a\n\n"
	for _, r := range retiredWords {
		upper := strings.ToUpper(r.word[:1]) + r.word[1:]
		for what, snippet := range map[string]string{
			"name": "var " + r.word + "Count int", "exported": "func The" + upper + "() {}", "plural": "var the" + upper + "s int",
		} {
			if got := check("mpi/a.go", head+snippet+"\n"); !slices.Equal(got, []string{"words"}) {
				t.Errorf("%s, %s: %v", r.word, what, got)
			}
		}
		want := []string(nil)
		if r.prose {
			want = []string{"words"}
		}
		for what, snippet := range map[string][2]string{
			"comment": {"mpi/a.go", head + "// A " + r.word + " is here.\n"}, "string": {"mpi/a.go", head + "var x = \"" + upper + "\"\n"},
			"document": {"docs/a.md", "The " + r.word + ".\n"}, "test": {"mpi/a_test.go", "package a\n\n// A " + r.word + ".\n"},
		} {
			if got := check(snippet[0], snippet[1]); !slices.Equal(got, want) {
				t.Errorf("%s in a %s: %v, want %v", r.word, what, got, want)
			}
		}
	}
	for source, want := range map[string][]string{
		"// Who waits is woken.\n":                              {"words"},
		"// It goes on. Who waits is woken.\n":                  {"words"},
		"// Who is it?\n":                                       nil,
		"// A process who waits is woken.\n":                    nil,
		"// " + strings.Repeat("a", 97) + "\n":                  nil,
		"// " + strings.Repeat("a", 98) + "\n":                  {"width"},
		"func f() {\n\t// " + strings.Repeat("ä", 94) + "\n}\n": {"width"},
		"func f() {\n\t// " + strings.Repeat("ä", 93) + "\n}\n": nil,
	} {
		if got := check("mpi/a.go", head+source); !slices.Equal(got, want) {
			t.Errorf("%q: %v, want %v", source, got, want)
		}
	}
}
