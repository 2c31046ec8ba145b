package report

import (
	"fmt"
	"strings"
)

// columnsOfText is where lines of prose end.
const columnsOfText = 100

// Markdown is the report for a document: the claims, what differs or is open and why, and the
// tables. Figures are pictures in a directory beside the document.
func (r *Report) Markdown(pictures string) []byte {
	var b strings.Builder
	fmt.Fprintf(&b, "Of %d claims %s.\n\n", len(r.Claims), r.counts())
	markdownTable(&b, []string{"Where", "Claim", "Paper", "Ours", ""}, func(row func(...string)) {
		for _, c := range r.Claims {
			verdict := map[Verdict]string{Differs: "**differs**", Open: "open"}[c.Verdict]
			row(c.Where, c.What, c.Paper, c.Ours, verdict)
		}
	})
	first := true
	for _, c := range r.Claims {
		if c.Verdict == Agrees {
			continue
		}
		if first {
			b.WriteString("\nWhat differs or is open, and why:\n\n")
			first = false
		}
		wrap(&b, "- ", fmt.Sprintf("**%s: %s.** The paper: %s; ours: %s. %s", c.Where, c.What, c.Paper, c.Ours, c.Explanation))
	}
	for _, s := range r.Sections {
		var links []string
		for _, f := range s.Figures {
			links = append(links, fmt.Sprintf("[%s](%s/%s.svg)", f.Title, pictures, f.Name))
		}
		if len(links) > 0 {
			b.WriteString("\n")
			wrap(&b, "", s.Title+". Drawn: "+strings.Join(links, ", ")+".")
		}
		for _, t := range s.Tables {
			if t.Hidden {
				continue
			}
			b.WriteString("\n")
			wrap(&b, "", strings.TrimSuffix(fmt.Sprintf("**%s.** %s", t.Title, t.Caption), " "))
			b.WriteString("\n")
			markdownTable(&b, t.Columns, func(row func(...string)) {
				for _, fields := range t.Rows {
					row(fields...)
				}
			})
		}
	}
	return []byte(b.String())
}

// markdownTable writes a heading and rows.
func markdownTable(b *strings.Builder, heading []string, rows func(row func(fields ...string))) {
	row := func(fields ...string) {
		for _, f := range fields {
			b.WriteString("| " + strings.NewReplacer("|", "\\|", "\n", " ").Replace(f) + " ")
		}
		b.WriteString("|\n")
	}
	row(heading...)
	b.WriteString(strings.Repeat("| --- ", len(heading)) + "|\n")
	rows(row)
}

// wrap writes a paragraph or, with a bullet, an item of a list.
func wrap(b *strings.Builder, bullet, text string) {
	line, indent := bullet, strings.Repeat(" ", len(bullet))
	begun := false
	for _, word := range strings.Fields(text) {
		if begun && len([]rune(line))+1+len([]rune(word)) > columnsOfText {
			b.WriteString(line + "\n")
			line, begun = indent, false
		}
		if begun {
			line += " "
		}
		line, begun = line+word, true
	}
	b.WriteString(line + "\n")
}
