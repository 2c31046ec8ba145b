package report

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
)

// Report is the outcome of a reproduction.
type Report struct {
	Title    string
	Source   string   // the paper: authors, title, where it appeared
	Command  string   // what makes this report again
	About    []string // paragraphs: what was done, and how
	Settings []Setting
	Claims   []Claim
	Sections []Section
}

// Setting is a parameter of a reproduction.
type Setting struct{ Name, Value string }

// Section is a part of a report after its claims.
type Section struct {
	Title   string
	Text    []string // paragraphs
	Figures []*Figure
	Tables  []*Table
}

// Verdict says how what we found compares with the paper.
type Verdict uint8

const (
	// Agrees: within what the explanation allows for.
	Agrees Verdict = iota
	// Differs: the explanation says why.
	Differs
	// Open: the paper says too little to compare with, or we ran too few.
	Open
)

func (v Verdict) String() string {
	switch v {
	case Agrees:
		return "agrees"
	case Differs:
		return "differs"
	}
	return "open"
}

// Claim sets one number or statement of the paper beside ours.
type Claim struct {
	Where       string // "section 4.3", "table 1"
	What        string
	Paper, Ours string // with units
	Difference  string // "" if there is nothing to subtract
	Verdict     Verdict
	Explanation string // must be there if the verdict isn't Agrees
}

// Difference is ours − paper with a sign, and as a share of the paper's.
func Difference(paper, ours float64) string {
	d := ours - paper
	switch {
	case d == 0:
		return "0"
	case paper == 0:
		return signed(d, 3)
	}
	return fmt.Sprintf("%s (%s %%)", signed(d, 3), signed(d/math.Abs(paper)*100, 2))
}

// signed writes a number with its sign and so many significant digits.
func signed(v float64, digits int) string {
	rounded, err := strconv.ParseFloat(strconv.FormatFloat(v, 'g', digits, 64), 64)
	if err != nil {
		rounded = v // not even a number
	}
	if rounded > 0 {
		return "+" + Number(rounded)
	}
	return Number(rounded)
}

// Prepare makes a directory for a report, if needed, and checks that files can be written there,
// before hours of simulation.
func Prepare(dir string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	f, err := os.CreateTemp(dir, ".writable-*")
	if err != nil {
		return err
	}
	return errors.Join(f.Close(), os.Remove(f.Name()))
}

// Write writes all files of a report to a directory, over those that are there.
// Errors name the figure, table or claim that is wrong.
func (r *Report) Write(dir string) error {
	if err := r.validate(); err != nil {
		return err
	}
	if err := Prepare(dir); err != nil {
		return err
	}
	write := func(name string, content []byte) error {
		return os.WriteFile(filepath.Join(dir, name), content, 0o666)
	}
	pictures := map[string][]byte{}
	for _, s := range r.Sections {
		for _, f := range s.Figures {
			svg, png, err := f.draw()
			if err != nil {
				return fmt.Errorf("figure %s: %w", f.Name, err)
			}
			pictures[f.Name] = svg
			if err := errors.Join(write(f.Name+".svg", svg), write(f.Name+".png", png), write(f.Name+".csv", f.data().csv())); err != nil {
				return err
			}
		}
		for _, t := range s.Tables {
			if err := write(t.Name+".csv", t.csv()); err != nil {
				return err
			}
		}
	}
	if err := write("claims.csv", r.claims().csv()); err != nil {
		return err
	}
	if err := write("report.md", r.Markdown(".")); err != nil {
		return err
	}
	var page bytes.Buffer
	if err := r.html(&page, pictures); err != nil {
		return err
	}
	return write("index.html", page.Bytes())
}

// claims is the table of claims.
func (r *Report) claims() *Table {
	t := Table{Columns: []string{"where", "claim", "paper", "ours", "difference", "verdict", "explanation"}}
	for _, c := range r.Claims {
		t.Rows = append(t.Rows, []string{c.Where, c.What, c.Paper, c.Ours, c.Difference, c.Verdict.String(), c.Explanation})
	}
	return &t
}

// fileName is what figures and tables may be called.
var fileName = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)

func (r *Report) validate() error {
	for _, c := range r.Claims {
		if c.Verdict != Agrees && c.Explanation == "" {
			return fmt.Errorf("claim %q: %s, but nothing explains why", c.What, c.Verdict)
		}
	}
	names := map[string]bool{"claims": true, "index": true}
	check := func(kind, name string, err error) error {
		switch {
		case err != nil:
		case !fileName.MatchString(name):
			err = errors.New("want a name of small letters, digits and hyphens")
		case names[name]:
			err = errors.New("there are two of this name")
		}
		names[name] = true
		if err != nil {
			return fmt.Errorf("%s %s: %w", kind, name, err)
		}
		return nil
	}
	for _, s := range r.Sections {
		for _, f := range s.Figures {
			if err := check("figure", f.Name, f.validate()); err != nil {
				return err
			}
		}
		for _, t := range s.Tables {
			if err := check("table", t.Name, t.validate()); err != nil {
				return err
			}
		}
	}
	return nil
}
