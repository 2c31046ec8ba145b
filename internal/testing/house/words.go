package house

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/scanner"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A retired word has been replaced by a better one: docs/design/glossary.md has the words in use.
type retired struct {
	word    string // in lower case
	instead string
	prose   bool // refused in comments, strings and documents, too, not only in identifiers
}

// retiredWords are the words that the module doesn't use any more. A word that means something else
// in plain English is refused only as a part of an identifier.
var retiredWords = []retired{
	{"newcomer", "replacement, joiner", true},
	{"warden", "spare leader", true},
	{"vacancy", "recovery", true},
	{"obituary", "eviction notice", true},
	{"farewell", "shutdown barrier", true},
	{"keeper", "progress thread", true},
	{"outcast", "fenced", true},
	{"bereft", "rank lost", true},
	{"inquest", "liveness probe", true},
	{"crowded", "oversubscribed", true},
	{"whoever", "the thing that acts", true},
	{"life", "incarnation, nonce", false},
	{"lives", "incarnations", false},
	{"seat", "replica slot", false},
	{"station", "replica slot, launcher rank", false},
	{"bed", "poller wait", false},
	{"bells", "doorbells", false},
	{"landing", "zero-copy receive", false},
	{"hush", "quiesce", false},
	{"gathering", "group node", false},
	{"board", "link table", false},
	{"door", "listener, joiner", false},
	{"guest", "joining peer", false},
}

// wordFiles are the names of the files beside Go's whose text is checked.
var wordFiles = []string{"*.md", "*.c", "*.h", "*.sh", "*.f90", "*.f", "*.txtar", "*.yaml", "*.html", "*.js", "Makefile"}

// wordless are the files that may use retired words: those that are about them, and one with a text
// that is a column of a CSV file whose bytes stay.
var wordless = []string{
	"docs/design/glossary.md", "internal/testing/house/words.go", "internal/testing/house/words_test.go",
	"internal/study/reproduce/membership/protocol.go",
}

// maxComment is the column before which a line of comments ends; a tab counts as tabWidth.
const (
	maxComment = 100
	tabWidth   = 4
)

// checkWords looks for retired words in a package's Go files, also in its tests, and for lines of
// comments that are too long.
func (m *module) checkWords(p *pack) {
	for _, f := range p.files {
		if slices.Contains(wordless, f.path) {
			continue
		}
		m.scanWords(f)
		if !ast.IsGenerated(f.syntax) {
			m.checkWidth(f)
		}
	}
}

func (m *module) scanWords(f *file) {
	file := token.NewFileSet().AddFile(f.path, -1, len(f.source))
	var s scanner.Scanner
	s.Init(file, f.source, nil, scanner.ScanComments)
	report := func(at token.Pos, text, format string) {
		m.problems = append(m.problems, Problem{file.Position(at), "words", fmt.Sprintf(format, text)})
	}
	for {
		at, kind, text := s.Scan()
		switch kind {
		case token.EOF:
			return
		case token.IDENT:
			for _, w := range camelWords(text) {
				if r := find(w, false); r != nil {
					report(at, text, "the name %s has a retired word: "+r.word+" → "+r.instead)
				}
			}
		case token.COMMENT, token.STRING:
			for _, r := range retiredIn(text) {
				report(at, r.word, "retired word: %s → "+r.instead)
			}
			if kind == token.COMMENT && subjectWho.MatchString(text) {
				report(at, firstLine(text), "a sentence begins with who: name what acts in %q")
			}
		}
	}
}

// subjectWho finds statements whose subject is "who"; questions may ask it.
var subjectWho = regexp.MustCompile(`(?:^//|[.:] |\n//) ?Who [^?.]*[.:]`)

func (m *module) checkWidth(f *file) {
	for i, line := range bytes.Split(f.source, []byte("\n")) {
		text := bytes.TrimLeft(line, "\t")
		if !bytes.HasPrefix(text, []byte("//")) || bytes.HasPrefix(text, []byte("//go:")) {
			continue
		}
		if width := (len(line)-len(text))*tabWidth + utf8.RuneCount(text); width > maxComment {
			at := token.Position{Filename: f.path, Line: i + 1, Column: 1}
			m.problems = append(m.problems, Problem{at, "width", fmt.Sprintf("a line of comments has %d columns, more than %d", width, maxComment)})
		}
	}
}

// checkTexts looks for retired words in the files that aren't Go's.
func (m *module) checkTexts() error {
	return fs.WalkDir(m.root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (entry.Name() == "bin" || entry.Name()[0] == '.'):
			return fs.SkipDir
		case entry.IsDir() || slices.Contains(wordless, name):
			return nil
		case !slices.ContainsFunc(wordFiles, func(p string) bool { ok, _ := path.Match(p, entry.Name()); return ok }):
			return nil
		}
		source, err := fs.ReadFile(m.root, name)
		if err != nil {
			return err
		}
		for i, line := range strings.Split(string(source), "\n") {
			for _, r := range retiredIn(line) {
				at := token.Position{Filename: name, Line: i + 1, Column: 1}
				m.problems = append(m.problems, Problem{at, "words", fmt.Sprintf("retired word: %s → %s", r.word, r.instead)})
			}
		}
		return nil
	})
}

var plainWord = regexp.MustCompile(`[A-Za-z]+`)

// retiredIn are the retired words of a text, of those that are refused in prose. The words of a
// name in the text are its camel-case words.
func retiredIn(text string) []*retired {
	var found []*retired
	for _, name := range plainWord.FindAllString(text, -1) {
		for _, w := range camelWords(name) {
			if r := find(w, true); r != nil {
				found = append(found, r)
			}
		}
	}
	return found
}

// find returns the entry of a word or its plural.
func find(word string, prose bool) *retired {
	word = strings.ToLower(word)
	for i := range retiredWords {
		r := &retiredWords[i]
		if (r.prose || !prose) && (word == r.word || word == r.word+"s" || word == strings.TrimSuffix(r.word, "y")+"ies") {
			return r
		}
	}
	return nil
}

// camelWords splits a name into its words: spareLeaderLost, HTTPServer, BANYAN_FAULT.
func camelWords(name string) []string {
	var words []string
	runes := []rune(name)
	start := 0
	for i := 1; i <= len(runes); i++ {
		if i < len(runes) && runes[i] != '_' && runes[i-1] != '_' {
			up, was := unicode.IsUpper(runes[i]), unicode.IsUpper(runes[i-1])
			ends := up && !was || up && was && i+1 < len(runes) && unicode.IsLower(runes[i+1])
			if !ends {
				continue
			}
		}
		if word := strings.Trim(string(runes[start:i]), "_"); word != "" {
			words = append(words, word)
		}
		start = i
	}
	return words
}

func firstLine(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return line
}
