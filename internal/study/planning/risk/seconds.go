package risk

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Seconds is a span of time.
type Seconds float64

// units are the names of spans, the longest first. A year has 365.25 days.
var units = []struct {
	name string
	span Seconds
}{
	{"y", 365.25 * 86400},
	{"d", 86400},
	{"h", 3600},
	{"m", 60},
	{"s", 1},
	{"ms", 1e-3},
	{"us", 1e-6},
	{"ns", 1e-9},
}

// ParseSeconds reads a span: numbers with units, one or several, as in "20y", "1d12h" or "1.5us".
// The units are y (365.25 days), d, h, m, s, ms, us (or µs) and ns; a number without a unit is an
// error, since its unit can't be guessed.
func ParseSeconds(text string) (Seconds, error) {
	rest := strings.ReplaceAll(strings.ReplaceAll(text, "µ", "u"), "μ", "u")
	if rest == "" {
		return 0, fmt.Errorf("empty: want a number with a unit, such as 20y, 36h or 1us")
	}
	var sum Seconds
	for rest != "" {
		digits := len(rest) - len(strings.TrimLeft(rest, "0123456789."))
		letters := len(rest) - digits - len(strings.TrimLeft(rest[digits:], "abcdefghijklmnopqrstuvwxyz"))
		value, err := strconv.ParseFloat(rest[:digits], 64)
		if err != nil || letters == 0 {
			return 0, fmt.Errorf("%q: want a number with a unit (y, d, h, m, s, ms, us or ns), such as 20y, 36h or 1us", text)
		}
		span, ok := unit(rest[digits : digits+letters])
		if !ok {
			return 0, fmt.Errorf("%q: unknown unit %q: want y, d, h, m, s, ms, us or ns", text, rest[digits:digits+letters])
		}
		sum += Seconds(value) * span
		rest = rest[digits+letters:]
	}
	if math.IsInf(float64(sum), 0) {
		return 0, fmt.Errorf("%q: too long", text)
	}
	return sum, nil
}

func unit(name string) (Seconds, bool) {
	for _, u := range units {
		if u.name == name {
			return u.span, true
		}
	}
	return 0, false
}

// String gives the span with four significant digits in the longest unit of
// which it is at least one. ParseSeconds reads it.
func (s Seconds) String() string {
	if s < 0 {
		return "-" + (-s).String()
	}
	u := units[len(units)-1]
	switch {
	case s == 0:
		return "0s"
	case math.IsInf(float64(s), 1):
		return "inf"
	}
	for _, longer := range units {
		// A span that rounds up to one of the unit is printed in it.
		if float64(s) >= float64(longer.span)*(1-5e-5) {
			u = longer
			break
		}
	}
	value, _ := strconv.ParseFloat(strconv.FormatFloat(float64(s/u.span), 'g', 4, 64), 64)
	return strconv.FormatFloat(value, 'f', -1, 64) + u.name
}

// Set and Type make Seconds a flag of the command line.
func (s *Seconds) Set(text string) error {
	parsed, err := ParseSeconds(text)
	if err == nil {
		*s = parsed
	}
	return err
}

// Type is the value's name in the help.
func (*Seconds) Type() string { return "span" }
