package timeline

import (
	"bufio"
	_ "embed" // the script
	"encoding/xml"
	"fmt"
	"io"
	"strconv"
	"strings"

	"banyan/internal/proto"
	"banyan/internal/trace"
)

//go:embed zoom.js
var zoomScript string

// WriteSVG draws the timeline.
func (t *Timeline) WriteSVG(w io.Writer) error {
	d := drawing{out: bufio.NewWriterSize(w, 1<<16), t: t, used: t.purposesUsed(), by: t.colouredBy()}
	// The legend's lines depend on the width, which doesn't depend on the top.
	legend, lines := d.legend(newLayout(t, 0).width)
	d.layout = newLayout(t, marginEdge+float64(2+lines)*lineHeight+36)
	marks := t.marks()
	width := marginLeft + d.width + marginRight
	height := d.bottom() + 44 + float64(len(marks))*lineHeight + marginEdge
	d.open(width, height)
	d.printf("%s", legend)
	d.grid()
	d.rows()
	d.markLines(marks)
	d.axis()
	d.markTexts(marks)
	d.printf("<g class=\"m\">\n")
	for i := range t.Messages {
		d.message(&t.Messages[i])
	}
	d.printf("</g>\n<script><![CDATA[\n%s]]></script>\n</svg>\n", zoomScript)
	return d.out.Flush()
}

// drawing is a picture that is being written.
type drawing struct {
	layout
	out  *bufio.Writer
	t    *Timeline
	used [trace.Purposes]int // messages
	by   []trace.Purpose     // of the message that coloured each process
}

// printf writes; the first error sticks to the buffer.
func (d *drawing) printf(format string, args ...any) { _, _ = fmt.Fprintf(d.out, format, args...) }

// escape makes a text fit for XML, whatever is in it.
func escape(text string) string {
	var b strings.Builder
	_ = xml.EscapeText(&b, []byte(text)) // a Builder takes everything
	return b.String()
}

// shorten cuts a text to what fits a width.
func shorten(text string, width float64) string {
	most := max(1, int(width/charWidth))
	if r := []rune(text); len(r) > most {
		return string(r[:most-1]) + "…"
	}
	return text
}

func (d *drawing) open(width, height float64) {
	d.printf(`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %.0f %.0f" width="%.0f" height="%.0f" font-family="Helvetica, Arial, 'DejaVu Sans', sans-serif" font-size="%d">
<style>
.s,.f,.r{vector-effect:non-scaling-stroke}
.f{fill:none;stroke-width:%.1f;opacity:.8}
.r{stroke-width:%.1f}
.axis text{stroke:#fff;stroke-width:3;paint-order:stroke}
.w{fill:none;stroke-width:1;stroke-dasharray:1 2}
.x{fill:none;stroke-width:1.8}
.grid{stroke:#e4e4e4;stroke-width:1}
.row{stroke:#d0d0d0;stroke-width:1}
.mark{stroke:#444;stroke-width:1;stroke-dasharray:2 3}
.dim{fill:#666}
.m g:hover .f{stroke-width:3;opacity:1}
.c .f{stroke-dasharray:5 2.5}
`, width, height, width, height, fontSize, min(1.2, d.row/12), min(1, d.row/12))
	for _, k := range looks {
		d.printf(".%s .s{fill:%s;stroke:none}.%s .f,.%s .w,.%s .x{stroke:%s}.%s .r{fill:#fff;stroke:%s}.%s.p{fill:%s}\n",
			k.css, k.colour, k.css, k.css, k.css, k.colour, k.css, k.colour, k.css, k.pale)
	}
	d.printf(`</style>
<defs><pattern id="hatch" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><rect width="6" height="6" fill="#ececec"/><rect width="2" height="6" fill="#b8b8b8"/></pattern></defs>
<rect width="%.0f" height="%.0f" fill="#fff"/>
`, width, height)
	heading := d.t.heading()
	d.printf("<text x=\"%d\" y=\"%d\" font-size=\"15\" font-weight=\"bold\"><title>%s</title>%s</text>\n",
		marginEdge, marginEdge+12, escape(heading), escape(shorten(heading, (width-2*marginEdge)*fontSize/17)))
}

// heading says what run the trace is of.
func (t *Timeline) heading() string {
	if t.Header.About == "" {
		return fmt.Sprintf("%s trace, P=%d", t.Header.Driver, t.Header.Procs)
	}
	return fmt.Sprintf("%s P=%d", t.Header.About, t.Header.Procs)
}

// grid draws a line down the rows for each time on the axis.
func (d *drawing) grid() {
	for at := d.begin; at <= d.end; at += d.tick {
		d.printf("<path class=\"grid\" d=\"M%.1f %.1fV%.1f\"/>\n", d.x(at), d.top-6, d.bottom()+6)
	}
}

// axis writes the times above and below the rows.
func (d *drawing) axis() {
	top, bottom := d.top-6, d.bottom()+6
	d.printf("<g class=\"axis\" text-anchor=\"middle\">\n")
	for at := d.begin; at <= d.end; at += d.tick {
		x := d.x(at)
		d.printf("<text x=\"%.1f\" y=\"%.1f\">%s</text><text x=\"%.1f\" y=\"%.1f\">%s</text>\n",
			x, top-4, d.show(at), x, bottom+13, d.show(at))
	}
	d.printf("</g>\n<text class=\"dim\" x=\"%d\" y=\"%.1f\">process</text>\n", marginEdge, top-20)
	unit := d.unit.name
	if unit == "step" {
		unit = "steps"
	}
	d.printf("<g class=\"axis\"><text class=\"dim\" text-anchor=\"middle\" x=\"%.1f\" y=\"%.1f\">time (%s)</text></g>\n",
		marginLeft+d.width/2, bottom+30, escape(shorten(unit, 200)))
}

// rows draws the processes: their labels and states.
func (d *drawing) rows() {
	step := d.labelStep()
	small := min(fontSize, d.row*0.85)
	for p := range proto.Proc(d.t.Header.Procs) {
		y, right := d.y(p), d.x(d.end)
		coloured, dead := d.t.Coloured[p], d.t.Dead[p]
		state := "never coloured"
		d.printf("<g class=\"process\">")
		if from, to := coloured, min(dead, d.end); from < to {
			d.printf("<rect class=\"%s p\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
				looks[d.by[p]].css, d.x(from), y-0.46*d.row, d.x(to)-d.x(from), 0.92*d.row)
		}
		if coloured != proto.Never {
			state = fmt.Sprintf("coloured at %s, by %s", d.show(coloured), d.colourer(p))
		}
		if dead != proto.Never {
			from := min(dead, d.end)
			d.printf("<rect fill=\"url(#hatch)\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>",
				d.x(from), y-0.3*d.row, right-d.x(from), 0.6*d.row)
			state += ", dead from " + d.show(dead)
		}
		d.printf("<path class=\"row\" d=\"M%d %.1fH%.1f\"/>", marginLeft, y, right)
		if int(p)%step == 0 {
			d.printf("<text text-anchor=\"end\" x=\"%d\" y=\"%.1f\">%d</text>", marginLeft-10, y+4, p)
		}
		// Every row has its number at the right, for a user who zooms.
		label, weight := strconv.Itoa(int(p)), "normal"
		if dead != proto.Never {
			label, weight = label+" dead", "bold"
		}
		d.printf("<text class=\"dim\" font-size=\"%.1f\" font-weight=\"%s\" x=\"%.1f\" y=\"%.1f\">%s</text>",
			small, weight, right+8, y+small*0.35, label)
		d.printf("<rect fill=\"none\" pointer-events=\"all\" x=\"0\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"><title>process %d: %s</title></rect></g>\n",
			y-d.row/2, right+marginRight, d.row, p, state)
	}
}

// colourer is the kind of the message that coloured a process, in words.
func (d *drawing) colourer(p proto.Proc) string {
	if d.by[p] == trace.Dissemination {
		return "dissemination or being the root"
	}
	return "a " + d.by[p].String()
}
