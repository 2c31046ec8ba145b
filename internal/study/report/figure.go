package report

import (
	"errors"
	"fmt"
	"math"
	"strconv"
)

// Figure is a plot.
type Figure struct {
	Name    string // of its files, without the extension
	Title   string
	Caption string // for the page: what the figure shows
	X, Y    Axis
	Series  []Series
	// Data is what goes into the CSV; nil: the points of all series.
	Data *Table
}

// Axis is one of a figure's two.
type Axis struct {
	Label string // with the unit
	Log   bool
	// Ticks are where values are written; nil: chosen by the package.
	Ticks []float64
	// From and To, if they differ, are the ends; otherwise the data's.
	From, To float64
}

// Series is points that belong together.
type Series struct {
	Name   string // in the legend; "": none
	Style  Style
	Spread Spread
	Dashed bool
	// Look is the colour and the marker, 1 to [Looks]; 0: by the series' index. Two series of one
	// look should differ in style or dashes.
	Look   int
	Points []Point
}

// Point is a value, and its spread where the series has one.
type Point struct{ X, Y, Low, High float64 }

// Style is how a series is drawn.
type Style uint8

// Styles.
const (
	LinePoints Style = iota // markers, connected in the order of the points
	Line
	Points
)

// Spread is how Low and High of a series' points are drawn.
type Spread uint8

// Spreads.
const (
	NoSpread Spread = iota
	Whiskers        // series stand a little beside each other, so as not to hide theirs
	Band
)

// SVG is a picture of the figure alone. Errors say what is wrong with it.
func (f *Figure) SVG() ([]byte, error) {
	if err := f.validate(); err != nil {
		return nil, err
	}
	svg, _, err := f.draw()
	return svg, err
}

// PNG is the same in pixels.
func (f *Figure) PNG() ([]byte, error) {
	if err := f.validate(); err != nil {
		return nil, err
	}
	_, png, err := f.draw()
	return png, err
}

func (f *Figure) validate() error {
	if f.X.Label == "" || f.Y.Label == "" {
		return errors.New("want a label on both axes")
	}
	points := 0
	for i, s := range f.Series {
		if s.Look < 0 || s.Look > Looks {
			return fmt.Errorf("series %q: look %d: want 0 to %d", s.Name, s.Look, Looks)
		}
		for _, p := range s.Points {
			points++
			values := []float64{p.Y}
			if s.Spread != NoSpread {
				values = append(values, p.Low, p.High)
				if p.Low > p.Y || p.High < p.Y {
					return fmt.Errorf("series %d, %q: %g isn't between %g and %g", i, s.Name, p.Y, p.Low, p.High)
				}
			}
			for _, y := range values {
				if !f.Y.has(y) {
					return fmt.Errorf("series %d, %q: y is %g", i, s.Name, y)
				}
			}
			if !f.X.has(p.X) {
				return fmt.Errorf("series %d, %q: x is %g", i, s.Name, p.X)
			}
		}
	}
	if points == 0 {
		return errors.New("no points")
	}
	return nil
}

// has says whether a value can be drawn.
func (a *Axis) has(v float64) bool {
	return !math.IsNaN(v) && !math.IsInf(v, 0) && (v > 0 || !a.Log)
}

// data is the CSV's.
func (f *Figure) data() *Table {
	if f.Data != nil {
		return f.Data
	}
	t := Table{Columns: []string{"series", "x", "y", "low", "high"}}
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	for _, s := range f.Series {
		for _, p := range s.Points {
			row := []string{s.Name, number(p.X), number(p.Y), "", ""}
			if s.Spread != NoSpread {
				row[3], row[4] = number(p.Low), number(p.High)
			}
			t.Rows = append(t.Rows, row)
		}
	}
	return &t
}
