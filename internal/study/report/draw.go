package report

import (
	"bytes"
	"image/color"
	"math"
	"strconv"
	"strings"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgimg"
	"gonum.org/v1/plot/vg/vgsvg"
)

// Size of a figure, and of the type in it.
const (
	width     = 7.5 * vg.Inch
	height    = 4.3 * vg.Inch
	pngDPI    = 150
	typeSize  = vg.Length(10)
	titleSize = vg.Length(12)
	beside    = vg.Length(3.5) // between whiskers of two series at one place
)

// Looks is how many colours and markers there are.
const Looks = 7

// colours are those of Okabe and Ito, without yellow, which is hard to see on
// white.
var colours = [Looks]color.RGBA{
	{0x00, 0x72, 0xb2, 0xff}, // blue
	{0xd5, 0x5e, 0x00, 0xff}, // vermilion
	{0x00, 0x9e, 0x73, 0xff}, // bluish green
	{0xcc, 0x79, 0xa7, 0xff}, // reddish purple
	{0xe6, 0x9f, 0x00, 0xff}, // orange
	{0x56, 0xb4, 0xe9, 0xff}, // sky blue
	{0x00, 0x00, 0x00, 0xff},
}

var markers = [Looks]draw.GlyphDrawer{
	draw.CircleGlyph{}, draw.PyramidGlyph{}, draw.BoxGlyph{}, draw.CrossGlyph{},
	draw.TriangleGlyph{}, draw.PlusGlyph{}, draw.RingGlyph{},
}

// look is the index of a series' colour and marker.
func (f *Figure) look(series int) int {
	if l := f.Series[series].Look; l > 0 {
		return l - 1
	}
	return series % Looks
}

// draw draws a valid figure.
func (f *Figure) draw() (svg, png []byte, err error) {
	p, legend, err := f.plot()
	if err != nil {
		return nil, nil, err
	}
	on := func(c vg.CanvasSizer) {
		all := draw.New(c)
		all.SetColor(color.White)
		all.Fill(all.Rectangle.Path())
		inner := draw.Crop(all, vg.Points(4), -vg.Points(8), vg.Points(4), -vg.Points(6))
		box := legend.Rectangle(inner)
		room := box.Size().X
		if room > 0 {
			room = room*1.12 + vg.Points(12) // the reader's type may be wider
		}
		label := f.yLabel(p)
		strip := label.Height(f.Y.Label) + vg.Points(4)
		plain := draw.Crop(inner, strip, -room, 0, 0)
		p.Draw(plain)
		data := p.DataCanvas(plain)
		all.FillText(label, vg.Point{X: inner.Min.X + label.Height(f.Y.Label) - label.FontExtents().Descent, Y: data.Center().Y}, f.Y.Label)
		legend.Draw(draw.Crop(inner, inner.Size().X-room+vg.Points(10), 0, 0, -vg.Points(24)))
	}
	vector := vgsvg.New(width, height)
	on(vector)
	raster := vgimg.NewWith(vgimg.UseWH(width, height), vgimg.UseDPI(pngDPI))
	on(raster)
	var s, r bytes.Buffer
	if _, err := vector.WriteTo(&s); err != nil {
		return nil, nil, err
	}
	if _, err := (vgimg.PngCanvas{Canvas: raster}).WriteTo(&r); err != nil {
		return nil, nil, err
	}
	// Arial and Helvetica are as wide as the type that the positions were computed for.
	text := strings.ReplaceAll(s.String(), "font-family:Liberation Sans;", "font-family:'Liberation Sans',Arial,Helvetica,sans-serif;")
	return []byte(text), r.Bytes(), nil
}

// yLabel is the style of the label of the vertical axis. This package draws it: gonum puts it at
// the middle of a logarithmic axis's values, far up, and makes room for it there.
func (f *Figure) yLabel(p *plot.Plot) draw.TextStyle {
	style := p.Y.Label.TextStyle
	style.Rotation += math.Pi / 2
	style.XAlign, style.YAlign = draw.XCenter, draw.YBottom
	return style
}

func sans(size vg.Length) font.Font {
	return font.Font{Typeface: "Liberation", Variant: "Sans", Size: size}
}

func (f *Figure) plot() (*plot.Plot, *plot.Legend, error) {
	p := plot.New()
	p.Title.Text, p.Title.TextStyle.Font, p.Title.Padding = f.Title, sans(titleSize), vg.Points(8)
	f.X.set(&p.X)
	f.Y.set(&p.Y)
	p.Y.Label.Text = ""
	grid := plotter.NewGrid()
	grid.Horizontal.Color, grid.Vertical.Color = color.Gray{0xe0}, color.Gray{0xe0}
	p.Add(grid)
	legend := plot.NewLegend()
	legend.Top, legend.Left = true, true
	legend.TextStyle.Font, legend.Padding, legend.ThumbnailWidth = sans(typeSize), vg.Points(3), vg.Points(24)
	legend.YPosition = draw.PosCenter
	whiskers, whisker := 0, 0
	for _, s := range f.Series {
		if s.Spread == Whiskers {
			whiskers++
		}
	}
	for i, s := range f.Series {
		if len(s.Points) == 0 {
			continue
		}
		dx := vg.Length(0)
		if s.Spread == Whiskers {
			dx = (vg.Length(whisker) - vg.Length(whiskers-1)/2) * beside
			whisker++
		}
		if err := f.addSeries(p, &legend, i, dx); err != nil {
			return nil, nil, err
		}
	}
	f.X.fit(&p.X)
	f.Y.fit(&p.Y)
	return p, &legend, nil
}

// addSeries adds what a series consists of, moved to the right by dx.
func (f *Figure) addSeries(p *plot.Plot, legend *plot.Legend, series int, dx vg.Length) error {
	s := &f.Series[series]
	look := f.look(series)
	colour := colours[look]
	points := make(plotter.XYs, len(s.Points))
	for i, x := range s.Points {
		points[i] = plotter.XY{X: x.X, Y: x.Y}
	}
	var parts []plot.Plotter
	var icons []plot.Thumbnailer
	switch s.Spread {
	case Band:
		edge := make(plotter.XYs, 0, 2*len(s.Points))
		for _, x := range s.Points {
			edge = append(edge, plotter.XY{X: x.X, Y: x.Low})
		}
		for i := range s.Points {
			x := s.Points[len(s.Points)-1-i]
			edge = append(edge, plotter.XY{X: x.X, Y: x.High})
		}
		band, err := plotter.NewPolygon(edge)
		if err != nil {
			return err
		}
		band.Color, band.LineStyle.Width = color.NRGBA{colour.R, colour.G, colour.B, 0x38}, 0
		parts, icons = append(parts, band), append(icons, band)
	case Whiskers:
		bars := plotter.YErrorBars{XYs: points, LineStyle: draw.LineStyle{Color: colour, Width: vg.Points(0.8)}, CapWidth: vg.Points(4)}
		for _, x := range s.Points {
			bars.YErrors = append(bars.YErrors, struct{ Low, High float64 }{x.Y - x.Low, x.High - x.Y})
		}
		parts = append(parts, &bars)
	}
	if s.Style != Points {
		line := plotter.Line{XYs: points, LineStyle: draw.LineStyle{Color: colour, Width: vg.Points(1.2)}}
		if s.Dashed {
			line.Dashes = []vg.Length{vg.Points(5), vg.Points(3)}
		}
		parts, icons = append(parts, &line), append(icons, &line)
	}
	if s.Style != Line {
		scatter := plotter.Scatter{XYs: points, GlyphStyle: draw.GlyphStyle{Color: colour, Radius: vg.Points(3), Shape: markers[look]}}
		parts, icons = append(parts, &scatter), append(icons, &scatter)
	}
	for _, part := range parts {
		p.Add(shifted{part, dx})
	}
	if s.Name != "" {
		legend.Add(s.Name, icons...)
	}
	return nil
}

// shifted is a plotter whose drawing is moved to the right.
type shifted struct {
	plot.Plotter
	by vg.Length
}

func (s shifted) Plot(c draw.Canvas, p *plot.Plot) {
	c.Min.X += s.by
	c.Max.X += s.by
	s.Plotter.Plot(c, p)
}

func (s shifted) DataRange() (xmin, xmax, ymin, ymax float64) {
	return s.Plotter.(plot.DataRanger).DataRange()
}

func (s shifted) GlyphBoxes(p *plot.Plot) []plot.GlyphBox {
	boxer, ok := s.Plotter.(plot.GlyphBoxer)
	if !ok {
		return nil
	}
	boxes := boxer.GlyphBoxes(p)
	for i := range boxes {
		boxes[i].Min.X += s.by
		boxes[i].Max.X += s.by
	}
	return boxes
}

// set styles an axis.
func (a *Axis) set(x *plot.Axis) {
	x.Label.Text, x.Label.TextStyle.Font, x.Label.Padding = a.Label, sans(typeSize), vg.Points(4)
	x.Tick.Label.Font = sans(typeSize)
	if a.Log {
		x.Scale = plot.LogScale{}
	}
	switch {
	case a.Ticks != nil:
		ticks := plot.ConstantTicks{}
		for _, t := range a.Ticks {
			ticks = append(ticks, plot.Tick{Value: t, Label: Number(t)})
		}
		x.Tick.Marker = ticks
	case a.Log:
		x.Tick.Marker = plot.TickerFunc(logTicks)
	default:
		x.Tick.Marker = plot.TickerFunc(linearTicks)
	}
}

// fit sets an axis's ends, once it knows the data.
func (a *Axis) fit(x *plot.Axis) {
	if a.From != a.To {
		x.Min, x.Max = a.From, a.To
	}
	if a.Log && x.Min == x.Max { // what gonum widens by itself could become negative
		x.Min, x.Max = x.Min/2, x.Max*2
	}
}

// linearTicks writes some five values, multiples of 1, 2 or 5 times a power of ten.
func linearTicks(low, high float64) []plot.Tick {
	power := math.Pow10(int(math.Floor(math.Log10((high - low) / 5))))
	step := 10 * power
	for _, times := range []float64{1, 2, 5} {
		if (high-low)/(times*power) <= 8 {
			step = times * power
			break
		}
	}
	var ticks []plot.Tick
	for i := math.Ceil(low/step - 1e-9); i*step <= high+step*1e-9; i++ {
		ticks = append(ticks, plot.Tick{Value: i * step, Label: Number(i * step)})
	}
	return ticks
}

// logTicks writes powers of ten, or also 2 and 5 times one if those would be few.
func logTicks(low, high float64) []plot.Tick {
	var ticks []plot.Tick
	few := math.Log10(high/low) < 3
	for power := math.Pow10(int(math.Floor(math.Log10(low)))); power <= high; power *= 10 {
		for digit := 1.0; digit < 10; digit++ {
			v := power * digit
			if v < low*(1-1e-9) || v > high*(1+1e-9) {
				continue
			}
			t := plot.Tick{Value: v}
			if digit == 1 || few && (digit == 2 || digit == 5) {
				t.Label = Number(v)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// Number writes a value for people: at most six digits, thousands separated.
func Number(v float64) string {
	if v == 0 {
		return "0" // whatever its sign
	}
	text := strconv.FormatFloat(v, 'g', 6, 64)
	if math.Abs(v) >= 1e4 && math.Abs(v) < 1e15 {
		text = strconv.FormatFloat(math.Round(v), 'f', 0, 64)
	}
	sign, digits := "", text
	if strings.HasPrefix(text, "-") {
		sign, digits = "−", text[1:]
	}
	if strings.ContainsAny(digits, ".e") || len(digits) < 4 {
		return sign + digits
	}
	var parts []string
	for len(digits) > 3 {
		parts = append([]string{digits[len(digits)-3:]}, parts...)
		digits = digits[:len(digits)-3]
	}
	return sign + strings.Join(append([]string{digits}, parts...), ",")
}
