package cli

import (
	"errors"
	"runtime"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"banyan/internal/study/table"
)

// FormatFlag adds --format, for a table.
func FormatFlag(flags *pflag.FlagSet, format *table.Format) {
	*format = table.Text
	flags.Var(format, "format", "table, csv or json")
}

// WorkersFlag adds --workers, as many as there are processors. what names what they do.
func WorkersFlag(flags *pflag.FlagSet, workers *int, what string) {
	CountFlag(flags, workers, "workers", runtime.NumCPU(), what+" at a time")
}

// CountFlag adds a flag for a number from 1 on.
func CountFlag(flags *pflag.FlagSet, n *int, name string, value int, usage string) {
	*n = value
	flags.Var((*count)(n), name, usage)
}

// count is a flag: a number from 1 on.
type count int

func (c *count) String() string { return strconv.Itoa(int(*c)) }

// Type is what the help calls the value.
func (*count) Type() string { return "int" }

// Set reads the value.
func (c *count) Set(text string) error {
	n, err := strconv.Atoi(text)
	if err != nil || n < 1 {
		return errors.New("want at least 1")
	}
	*c = count(n)
	return nil
}

// Given returns the flags that were given, as a command line. It leaves out --workers and
// --format, which make no difference to a page.
func Given(flags *pflag.FlagSet) string {
	var text strings.Builder
	flags.Visit(func(flag *pflag.Flag) {
		value := flag.Value.String()
		switch list, isList := flag.Value.(pflag.SliceValue); {
		case flag.Name == "workers" || flag.Name == "format":
			return
		case isList:
			items := list.GetSlice()
			for i, item := range items {
				if strings.Contains(item, ".") && strings.Trim(item, "0123456789.") == "" { // pflag writes six decimals
					items[i] = strings.TrimRight(strings.TrimRight(item, "0"), ".")
				}
			}
			value = strings.Join(items, ",")
		}
		text.WriteString(" --" + flag.Name + " " + value)
	})
	return text.String()
}
