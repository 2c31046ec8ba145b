package house

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
)

// TestModule holds the whole module against the rules.
func TestModule(t *testing.T) {
	problems, err := Check(os.DirFS("../../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

// TestWingsGoDown checks the table: with every wing naming only wings above it, no set of imports
// that it allows has a cycle between wings.
func TestWingsGoDown(t *testing.T) {
	for i, w := range wings {
		for _, imported := range w.imports {
			if !slices.ContainsFunc(wings[:i], func(above wing) bool { return above.name == imported }) {
				t.Errorf("%s may import %s, which isn't above it", w.name, imported)
			}
		}
	}
}

// TestDependenciesExist keeps the table free of modules that we no longer need.
func TestDependenciesExist(t *testing.T) {
	mod, err := os.ReadFile("../../../go.mod")
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range dependencies {
		if !strings.Contains(string(mod), d.module+" v") {
			t.Errorf("%s isn't in go.mod", d.module)
		}
	}
}

// TestRulesBite breaks each rule once and expects just that one problem.
func TestRulesBite(t *testing.T) {
	tests := []struct {
		name, path, source string
		rule, text         string // the problem; rule "" expects none
	}{
		{"clean", "internal/proto/a/a.go", "", "", ""},
		{"import up", "internal/proto/a/a.go", `import _ "banyan/internal/runtime/wire"`, "wings", "may not import internal/runtime/wire"},
		{"import across", "internal/proto/a/a.go", `import _ "banyan/internal/proto/b"`, "wings", "protocols never know each other"},
		{"import inside the wing", "internal/runtime/engine/a.go", `import _ "banyan/internal/runtime/wire"`, "", ""},
		{"import of the driver", "internal/study/campaign/a.go", `import _ "banyan/internal/runtime/transport/tcp"`, "wings", "may not import"},
		{"transport imports a protocol", "internal/runtime/transport/tcp/a.go", `import _ "banyan/internal/proto/b"`, "wings", "knows no protocol"},
		{"datatype imports the runtime", "internal/mpi/datatype/a.go", `import _ "banyan/internal/runtime/wire"`, "wings", "need no process"},
		{"study imports job", "internal/study/campaign/a.go", `import _ "banyan/internal/job/env"`, "wings", "imports only ground, machines, plans, itself"},
		{"launcher imports mpi", "internal/job/launcher/a.go", `import _ "banyan/mpi"`, "wings", "may not import mpi"},
		{"example reaches inside", "examples/a/a.go", `import _ "banyan/internal/mpi/comm"`, "wings", "may not import"},
		{"no row", "internal/util/a.go", "", "wings", "belongs to no wing"},
		{"stray dependency", "internal/mpi/comm/a.go", `import _ "github.com/spf13/cobra"`, "dependencies", "may not import"},
		{"unknown dependency", "cmd/banyan/a.go", `import _ "example.com/leftpad"`, "dependencies", "may not import"},
		{"dependency in its place", "cmd/banyan/a.go", `import _ "github.com/spf13/cobra"`, "", ""},
		{"test files are exempt", "internal/proto/a/a_test.go", `import _ "time"`, "", ""},

		{"clock", "internal/proto/a/a.go", `import _ "time"`, "pure", "imports time"},
		{"lock", "internal/topology/a.go", `import _ "sync"`, "pure", "imports sync"},
		{"system", "internal/proto/a.go", `import _ "os"`, "pure", "imports os"},
		{"goroutine", "internal/proto/a/a.go", "func f() { go f() }", "pure", "goroutine"},
		{"channel", "internal/proto/a/a.go", "type t struct{ c chan int }", "pure", "channel"},
		{"select", "internal/proto/a/a.go", "func f() {\n\tselect {}\n}", "pure", "selects"},
		{"print", "internal/proto/a/a.go", "func f() { println() }", "pure", "prints"},
		{"output", "internal/proto/a/a.go", "import \"fmt\"\n\nfunc f() { fmt.Println() }", "pure", "uses fmt.Println"},
		{"global randomness", "internal/proto/a/a.go", "import \"math/rand/v2\"\n\nvar x = rand.IntN(6)", "pure", "uses math/rand/v2.IntN"},
		{"seeded randomness", "internal/proto/a/a.go", "import \"math/rand/v2\"\n\nfunc f(r *rand.Rand) int { return r.IntN(6) }", "", ""},
		{"map order", "internal/proto/a/a.go", "type m map[int]int\n\nfunc f(m m) {\n\tfor range m {\n\t}\n}", "pure", "ranges over a map"},
		{"map order without a reason", "internal/proto/a/a.go",
			"func f(m map[int]int) {\n\tfor range m { //banyan:maporder\n\t}\n}", "pure", "ranges over a map"},
		{"map order with a reason", "internal/proto/a/a.go",
			"func f(m map[int]int) {\n\tfor range m { //banyan:maporder only counts\n\t}\n}", "", ""},
		{"map order with a reason above", "internal/proto/a/a.go",
			"func f(m map[int]int) {\n\t//banyan:maporder only counts\n\tfor range m {\n\t}\n}", "", ""},
		{"map order with a reason elsewhere", "internal/proto/a/a.go",
			"func f(m map[int]int) {\n\tfor range m {\n\t}\n} //banyan:maporder too late\n\n//banyan:maporder too late", "pure", "ranges over a map"},
		{"slice order", "internal/proto/a/a.go", "func f(s []int) {\n\tfor range s {\n\t}\n}", "", ""},
		{"wrong type", "internal/proto/a/a.go", `var x int = ""`, "pure", "cannot use"},
		{"impure is fine elsewhere", "internal/runtime/engine/a.go", "func f() { go f() }", "", ""},

		{"variable", "mpi/a.go", `const debug = "BANYAN_DEBUG"`, "variables", "_DEBUG: package"},
		{"variable with a value in a test", "mpi/a_test.go", `const debug = "BANYAN_DEBUG=1"`, "variables", "_DEBUG: package"},
		{"variable in its place", "internal/job/env/a.go", `const debug = "BANYAN_DEBUG"`, "", ""},
		{"variable of tests", "mpi/a.go", `const role = "BANYAN_TEST_ROLE"`, "", ""},
		{"variable in a sentence", "mpi/a.go", `const help = "Set BANYAN_DEBUG=1 to see more."`, "", ""},

		{"format", "mpi/a.go", "func  f() {}", "format", "gofmt"},
		{"length", "mpi/a.go", strings.Repeat("// A line.\n", maxLines), "length", "more than 500"},
		{"length of what is generated", "mpi/a.go", "generated", "", ""},
		{"doc", "mpi/a.go", "undocumented", "doc", "doesn't say its job"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			name := path.Base(path.Dir(test.path))
			source := "// Package " + name + " is a snippet.\npackage " + name + "\n"
			if test.source == "undocumented" {
				source = "package " + name + "\n"
			} else if test.source == "generated" {
				source = "// Code generated by hand. DO NOT EDIT.\n\n" + source + "\n" + strings.Repeat("// A line.\n", maxLines)
			} else if test.source != "" {
				source += "\n" + strings.TrimSpace(test.source) + "\n"
			}
			root := fstest.MapFS{
				test.path: {Data: []byte(source)},
				// What the snippets import.
				"internal/proto/b/b.go":         {Data: []byte("// Package b is a snippet.\npackage b\n")},
				"internal/runtime/wire/wire.go": {Data: []byte("// Package wire is a snippet.\npackage wire\n")},
			}
			problems, err := Check(root)
			if err != nil {
				t.Fatal(err)
			}
			if test.rule == "" {
				if len(problems) != 0 {
					t.Errorf("problems %v, want none", problems)
				}
				return
			}
			if len(problems) != 1 || problems[0].Rule != test.rule || !strings.Contains(problems[0].Text, test.text) {
				t.Errorf("problems %v, want one of rule %s: …%s…", problems, test.rule, test.text)
			}
		})
	}
}

// TestLongFilesAreLong keeps exceptions from outliving their reason.
func TestLongFilesAreLong(t *testing.T) {
	for name := range longFiles {
		source, err := os.ReadFile("../../../" + name)
		if err != nil {
			t.Error(err)
		} else if strings.Count(string(source), "\n") <= maxLines {
			t.Errorf("%s needs no exception", name)
		}
	}
}
