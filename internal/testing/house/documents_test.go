package house

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

// TestDocuments checks what the module's documents name.
func TestDocuments(t *testing.T) {
	problems, err := CheckDocuments(os.DirFS("../../.."))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range problems {
		t.Error(p)
	}
}

// TestDocumentRulesBite has a document name one thing that isn't there, and expects just that
// one problem, or none where the thing is there.
func TestDocumentRulesBite(t *testing.T) {
	files := map[string]string{
		"Makefile":                    "test: lint ## check\n\techo\n\nbench-mpi:\n",
		"internal/runtime/wire/a.go":  "package wire\n\ntype Header struct{ Kind int }\n\nfunc (h *Header) Encode() {}\n\nfunc Decode() {}\n\nfunc getAll() {}\n",
		"internal/runtime/wire/b.go":  "package wire\n\ntype Long struct{ Header }\n\nvar _ = get(\"BANYAN_SPARES\")\n",
		"internal/runtime/a_test.go":  "package runtime\n\nimport \"testing\"\n\nfunc TestTurns(t *testing.T) {}\n",
		"docs/other.md":               "# A heading, with `code`\n\n## Twice\n\n## Twice\n",
		"internal/study/driver/x.txt": "",
	}
	tests := []struct{ name, text, rule, problem string }{
		{"link", "[x](other.md)", "", ""},
		{"link to another site", "[x](https://example.com/nowhere)", "", ""},
		{"dead link", "[x](gone.md)", "link", "gone.md isn't there"},
		{"anchor", "[x](other.md#a-heading-with-code) [y](other.md#twice-1)", "", ""},
		{"dead anchor", "[x](other.md#b)", "link", "no heading #b"},
		{"anchor here", "# Here\n\n[x](#here)", "", ""},
		{"dead anchor here", "# Here\n\n[x](#there)", "link", "no heading #there"},
		{"link in a block", "```\n[x](gone.md)\n```", "", ""},

		{"half a merge", "a\n<<<<<<< HEAD\nb", "merge", "mark of a conflict"},

		{"path", "`internal/runtime/wire` and `./internal/...`, internal/runtime/{wire,wire/a.go}, internal/*/wire/*.go", "", ""},
		{"dead path", "see internal/runtime/process", "path", "no internal/runtime/process"},
		{"dead path in a block", "```\ngo test ./internal/study/nothing\n```", "path", "no internal/study/nothing"},
		{"dead alternative", "`internal/{runtime,job}`", "path", "no internal/job"},
		{"dead pattern", "`internal/*/mesh`", "path", "no internal/*/mesh"},
		{"path elsewhere", "`/etc/docs/x`, https://example.com/docs/x, `send/receive`", "", ""},
		{"file by its end", "`wire/a.go`, `b.go`", "", ""},
		{"dead file by its end", "`wire/c.go`", "path", "wire/c.go"},

		{"symbol", "`wire.Decode`, `wire.Header.Encode()`, `Header.Kind`, `Long.Encode`, `os.Stdout`, `Long.Header`", "", ""},
		{"dead symbol", "`wire.Encode`", "symbol", "wire.Encode"},
		{"dead method", "`wire.Header.Decode`", "symbol", "wire.Header.Decode"},
		{"dead member of a type", "`Header.Length`", "symbol", "Header.Length"},
		{"dead symbol over the end of a line", "`go doc\nwire.Encode`", "symbol", "wire.Encode"},
		{"inner name", "`getAll` is called, `eager`, `mpi_send`", "", ""},
		{"dead inner name", "`getNone` is called", "symbol", "getNone"},
		{"symbol in prose", "wire.Encode was once there", "", ""},
		{"test", "`TestTurns`, `go test -run 'TestTur|TestTurns'`", "", ""},
		{"dead test", "`TestNothing`", "symbol", "TestNothing"},
		{"dead test in a block", "    go test -run TestNothing ./internal/runtime", "symbol", "TestNothing"},

		{"make", "`make test`, `make`, `make bench-mpi ROUNDS=2`", "", ""},
		{"dead target", "`make coffee`", "command", "no target coffee"},
		{"dead target in a block", "```\n$ make test tea\n```", "command", "no target tea"},
		{"variable", "`BANYAN_SPARES=2`", "", ""},
		{"dead variable", "`BANYAN_SPARE`", "command", "nothing reads BANYAN_SPARE"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			root := fstest.MapFS{"docs/a.md": {Data: []byte(test.text + "\n")}}
			for name, text := range files {
				root[name] = &fstest.MapFile{Data: []byte(text)}
			}
			problems, err := CheckDocuments(root)
			if err != nil {
				t.Fatal(err)
			}
			switch {
			case test.rule == "" && len(problems) > 0:
				t.Errorf("problems %v, want none", problems)
			case test.rule != "" && (len(problems) != 1 || problems[0].Rule != test.rule || !strings.Contains(problems[0].Text, test.problem)):
				t.Errorf("problems %v, want one of rule %s: …%s…", problems, test.rule, test.problem)
			}
		})
	}
}

// TestMapBites leaves a package out of the map of the packages.
func TestMapBites(t *testing.T) {
	root := fstest.MapFS{
		"internal/runtime/wire/a.go":  {Data: []byte("package wire\n")},
		"internal/runtime/state/a.go": {Data: []byte("package state\n")},
		"examples/ring/main.go":       {Data: []byte("package main\n")},
	}
	for text, want := range map[string]int{
		"`internal/runtime/wire`, over `state`": 0,
		"`internal/runtime/wire`, over state":   1,
		"none":                                  2,
	} {
		root[packageMap] = &fstest.MapFile{Data: []byte(text + "\n")}
		problems, err := CheckDocuments(root)
		if err != nil {
			t.Fatal(err)
		}
		if len(problems) != want || want > 0 && problems[0].Rule != "map" {
			t.Errorf("%s: problems %v, want %d", text, problems, want)
		}
	}
}
