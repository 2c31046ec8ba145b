package timeline

import (
	"strconv"

	"banyan/internal/proto"
)

// Margins around the rows, in pixels.
const (
	marginLeft  = 64
	marginRight = 64
	marginEdge  = 16
	fontSize    = 12
	charWidth   = 6.8 // at that size, a little more than most fonts need
	lineHeight  = 18
)

// layout holds the positions and sizes of the picture's parts, in pixels.
type layout struct {
	begin, end    proto.Time
	scale         float64 // pixels for one unit of time
	row           float64 // height of a row
	top           float64 // of the first row
	width, height float64 // of the rows
	tick          proto.Time
	unit          unit
}

// unit is the unit in which times are shown.
type unit struct {
	name string
	size float64
}

// newLayout finds the sizes for a timeline, its first row below top.
func newLayout(t *Timeline, top float64) layout {
	l := layout{begin: t.Begin, end: max(t.End, t.Begin+1), top: top, row: rowHeight(t.Header.Procs)}
	span := float64(l.end - l.begin)
	l.width = min(max(span*56, 760), 1500)
	l.scale = l.width / span
	l.height = l.row * float64(t.Header.Procs)
	l.tick = tickStep(l.scale)
	l.unit = unit{t.Header.Unit, 1}
	if t.Header.Unit == "ns" {
		for _, u := range []unit{{"µs", 1e3}, {"ms", 1e6}, {"s", 1e9}} {
			if span >= u.size {
				l.unit = u
			}
		}
	}
	return l
}

// rowHeight makes rows thinner the more there are.
func rowHeight(procs int) float64 {
	switch {
	case procs <= 20:
		return 34
	case procs <= 48:
		return 22
	case procs <= 128:
		return 14
	case procs <= 512:
		return 9
	}
	return 6
}

// tickStep is the least of 1, 2, 5, 10, 20, … whose ticks leave room for numbers.
func tickStep(scale float64) proto.Time {
	const room = 60
	for step := proto.Time(1); ; step *= 10 {
		for _, s := range []proto.Time{step, 2 * step, 5 * step} {
			if float64(s)*scale >= room {
				return s
			}
		}
	}
}

// labelStep is the number of rows from one label at the left to the next.
func (l *layout) labelStep() int {
	for step := 1; ; step *= 10 {
		for _, s := range []int{step, 2 * step, 5 * step} {
			if float64(s)*l.row >= fontSize+1 {
				return s
			}
		}
	}
}

// x is the horizontal position of a time.
func (l *layout) x(t proto.Time) float64 { return marginLeft + float64(t-l.begin)*l.scale }

// y is the middle of a process's row.
func (l *layout) y(p proto.Proc) float64 { return l.top + (float64(p)+0.5)*l.row }

// show writes a time for people, from the beginning of the picture.
func (l *layout) show(t proto.Time) string {
	return strconv.FormatFloat(float64(t-l.begin)/l.unit.size, 'f', -1, 64)
}

// bottom is the end of the rows.
func (l *layout) bottom() float64 { return l.top + l.height }
