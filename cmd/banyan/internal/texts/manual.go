package texts

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// page is a manual page of section 1.
type page struct {
	name string // banyan-run
	text []byte // in the language of man
}

// pages makes the pages of a command and of all below it that help shows.
func pages(root *cobra.Command, version string) (all []page) {
	visit(root, func(c *cobra.Command) {
		all = append(all, page{pageName(c), pageOf(c, version)})
	})
	for _, name := range []string{"mpiexec", "mpirun"} {
		all = append(all, page{name, []byte(".so man1/banyan-run.1\n")})
	}
	return all
}

func visit(c *cobra.Command, do func(*cobra.Command)) {
	do(c)
	for _, sub := range shown(c) {
		visit(sub, do)
	}
}

// shown are the commands below a command that its help lists. The pages of the command completion
// would only repeat what the installation does.
func shown(c *cobra.Command) []*cobra.Command {
	return slices.DeleteFunc(slices.Clone(c.Commands()), func(sub *cobra.Command) bool {
		return !sub.IsAvailableCommand() || sub.Name() == "completion" || sub.Name() == "help"
	})
}

func pageName(c *cobra.Command) string { return strings.ReplaceAll(c.CommandPath(), " ", "-") }

// pageOf writes the page of one command.
func pageOf(c *cobra.Command, version string) []byte {
	var b bytes.Buffer
	name := pageName(c)
	fmt.Fprintf(&b, ".TH %s 1 \"\" %s \"Banyan\"\n.nh\n.ad l\n", quoted(strings.ToUpper(name)), quoted(version))
	fmt.Fprintf(&b, ".SH NAME\n%s \\- %s\n", plain(name), plain(c.Short))
	fmt.Fprintf(&b, ".SH SYNOPSIS\n.B %s\n", plain(c.CommandPath()))
	switch _, rest, has := strings.Cut(c.UseLine(), c.CommandPath()+" "); {
	case has:
		fmt.Fprintf(&b, "%s\n", escaped(rest))
	case c.HasAvailableSubCommands():
		b.WriteString("COMMAND\n")
	}
	b.WriteString(".SH DESCRIPTION\n")
	prose(&b, c.Long, c.Short+".")
	commands(&b, c)
	c.InitDefaultHelpFlag()
	flags(&b, "OPTIONS", c.NonInheritedFlags())
	flags(&b, "OPTIONS OF ALL COMMANDS", c.InheritedFlags())
	if c.Example != "" {
		fmt.Fprintf(&b, ".SH EXAMPLES\n.nf\n%s\n.fi\n", escaped(strings.Trim(c.Example, "\n")))
	}
	var also []string
	if c.HasParent() {
		also = append(also, pageName(c.Parent()))
	}
	for _, sub := range shown(c) {
		also = append(also, pageName(sub))
	}
	if len(also) > 0 {
		for i, a := range also {
			also[i] = `\fB` + plain(a) + `\fR(1)`
		}
		fmt.Fprintf(&b, ".SH SEE ALSO\n%s\n", strings.Join(also, ",\n"))
	}
	return b.Bytes()
}

// commands lists the commands below a command.
func commands(b *bytes.Buffer, c *cobra.Command) {
	if len(shown(c)) == 0 {
		return
	}
	b.WriteString(".SH COMMANDS\n")
	for _, sub := range shown(c) {
		fmt.Fprintf(b, ".TP\n.B %s\n%s\n", plain(sub.CommandPath()), escaped(sub.Short))
	}
}

// flags lists the flags that help shows.
func flags(b *bytes.Buffer, title string, set *pflag.FlagSet) {
	if !set.HasAvailableFlags() {
		return
	}
	fmt.Fprintf(b, ".SH %s\n", title)
	set.VisitAll(func(f *pflag.Flag) {
		if f.Hidden || f.Deprecated != "" {
			return
		}
		value, usage := pflag.UnquoteUsage(f)
		b.WriteString(".TP\n")
		if f.Shorthand != "" {
			fmt.Fprintf(b, `\fB%s\fR, `, plain("-"+f.Shorthand))
		}
		fmt.Fprintf(b, `\fB%s\fR`, plain("--"+f.Name))
		switch {
		case value != "" && f.NoOptDefVal != "":
			fmt.Fprintf(b, `[=\fI%s\fR]`, escaped(value))
		case value != "":
			fmt.Fprintf(b, ` \fI%s\fR`, escaped(value))
		}
		fmt.Fprintf(b, "\n%s\n", escaped(strings.ReplaceAll(usage, "\n", " ")+fallback(f)))
	})
}

// fallback tells a flag's value where none is given, unless that says nothing.
func fallback(f *pflag.Flag) string {
	if slices.Contains([]string{"", "0", "0s", "false", "[]"}, f.DefValue) || strings.Contains(f.Usage, "default") {
		return ""
	}
	return " (default " + f.DefValue + ")"
}

// prose writes the paragraphs of a help text, or other if there is none. Lines that begin with
// white space stay lines of their own.
func prose(b *bytes.Buffer, text, other string) {
	if text == "" {
		text = other
	}
	literal := false
	set := func(want bool) {
		if want != literal {
			b.WriteString(map[bool]string{true: ".nf\n", false: ".fi\n"}[want])
		}
		literal = want
	}
	gap := false
	for line := range strings.SplitSeq(strings.Trim(text, "\n"), "\n") {
		if strings.TrimSpace(line) == "" {
			gap = true
			continue
		}
		set(line[0] == ' ' || line[0] == '\t')
		if gap {
			b.WriteString(".PP\n")
		}
		gap = false
		b.WriteString(escaped(line) + "\n")
	}
	set(false)
}

// escaped is a text with nothing in it that man would take for its language. Hyphens of options and
// the like stay those that a user types.
func escaped(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`, "'", `\(aq`, "`", `\(ga`, "^", `\(ha`, "~", `\(ti`).Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, ".") {
			lines[i] = `\&` + line
		}
	}
	return strings.Join(lines, "\n")
}

// plain is escaped for one line.
func plain(text string) string { return escaped(strings.ReplaceAll(text, "\n", " ")) }

// quoted is an argument of a request.
func quoted(text string) string { return `"` + strings.ReplaceAll(plain(text), `"`, `\(dq`) + `"` }
