package main

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/spf13/pflag"
)

// wanted says what the value of a flag must be, by the name that pflag has for its type.
var wanted = map[string]string{
	"bool":     "true or false",
	"int":      "a whole number",
	"int64":    "a whole number",
	"uint":     "a whole number that isn't negative",
	"uint64":   "a whole number that isn't negative",
	"intSlice": "whole numbers with commas between",
	"float64":  "a number",
	"duration": "a time with its unit, such as 300ms, 90s or 1h30m",
}

// inWords puts the error of a flag whose value can't be read into the words of the user:
// which flag, which value, and what it should be. Other errors stay as they are.
func inWords(err error) error {
	e := (*pflag.InvalidValueError)(nil)
	if !errors.As(err, &e) {
		return err
	}
	flag := e.GetFlag()
	name := "--" + flag.Name
	if flag.Shorthand != "" {
		name += " (-" + flag.Shorthand + ")"
	}
	want, known := wanted[flag.Value.Type()]
	switch {
	case errors.Is(err, strconv.ErrRange) && !strings.HasPrefix(strings.TrimSpace(e.GetValue()), "-"):
		want = "a smaller number"
	case !known: // a type of this command, which says it itself
		return fmt.Errorf("%s is %q: %w", name, e.GetValue(), e.Unwrap())
	}
	return fmt.Errorf("%s is %q: want %s", name, e.GetValue(), want)
}
