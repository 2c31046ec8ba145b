package house

import (
	"fmt"
	"io/fs"
	"path"
	"strings"
	"unicode"
)

// Document is a Markdown file of the module.
type Document struct {
	Path  string
	Lines []string
}

// Code is a piece of a document that is set as code: a span between backquotes, or a line of a
// block.
type Code struct {
	Line     int // 1 is the document's first
	Text     string
	Block    bool
	Language string // of a block
}

// Documents reads every Markdown file below root, except in hidden directories, testdata and bin.
func Documents(root fs.FS) (all []Document, err error) {
	err = fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && (name == "bin" || entry.Name() == "testdata" || entry.Name()[0] == '.'):
			return fs.SkipDir
		case entry.IsDir() || path.Ext(name) != ".md":
			return nil
		}
		text, err := fs.ReadFile(root, name)
		all = append(all, Document{name, strings.Split(string(text), "\n")})
		return err
	})
	return all, err
}

// prose is the document with the lines of its blocks of code emptied.
func (d Document) prose() []string {
	lines := make([]string, len(d.Lines))
	inside := false
	for i, line := range d.Lines {
		if strings.HasPrefix(strings.TrimSpace(line), "```") {
			inside = !inside
		} else if !inside && !strings.HasPrefix(line, "    ") {
			lines[i] = line
		}
	}
	return lines
}

// Code returns the pieces of code in their order. A line that ends in a backslash goes on in the
// next one.
func (d Document) Code() (all []Code) {
	inside, language := false, ""
	prose := d.prose()
	paragraph, start := "", 0
	end := func() {
		all = append(all, spans(paragraph, start)...)
		paragraph = ""
	}
	for i := 0; i < len(d.Lines); i++ {
		line := strings.TrimSpace(d.Lines[i])
		if info, fence := strings.CutPrefix(line, "```"); fence {
			end()
			inside, language = !inside, info
			continue
		}
		if inside || prose[i] == "" && line != "" {
			end()
			at := i + 1
			for strings.HasSuffix(line, `\`) && i+1 < len(d.Lines) {
				i++
				line = strings.TrimSuffix(line, `\`) + strings.TrimSpace(d.Lines[i])
			}
			all = append(all, Code{at, line, true, language})
			continue
		}
		if line == "" {
			end()
			continue
		}
		if paragraph == "" {
			start = i + 1
		}
		paragraph += line + "\n"
	}
	end()
	return all
}

// spans are the pieces between backquotes in a paragraph, which may go over the end of a line.
func spans(paragraph string, line int) (all []Code) {
	for i, piece := range strings.Split(paragraph, "`") {
		if i%2 == 1 {
			all = append(all, Code{Line: line, Text: strings.ReplaceAll(piece, "\n", " ")})
		}
		line += strings.Count(piece, "\n")
	}
	return all
}

// anchors are the names by which links lead to the headings, made as GitHub makes them.
func (d Document) anchors() (all []string) {
	seen := map[string]int{}
	for _, line := range d.prose() {
		if !strings.HasPrefix(line, "#") {
			continue
		}
		heading := link.ReplaceAllString(strings.TrimSpace(strings.TrimLeft(line, "#")), "]")
		anchor := strings.Map(func(r rune) rune {
			switch {
			case r == ' ':
				return '-'
			case unicode.IsLetter(r), unicode.IsDigit(r), r == '-', r == '_':
				return unicode.ToLower(r)
			}
			return -1
		}, heading)
		n := seen[anchor]
		seen[anchor]++
		if n > 0 {
			anchor = fmt.Sprintf("%s-%d", anchor, n)
		}
		all = append(all, anchor)
	}
	return all
}
