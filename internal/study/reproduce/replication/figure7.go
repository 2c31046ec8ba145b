package replication

import (
	"fmt"
	"math"
	"strings"

	"banyan/internal/study/ratio"
	"banyan/internal/study/report"
)

// shown are the settings of figure 7 and their names in it.
var shown = []struct {
	setting Setting
	name    string
	look    int
}{
	{Alone, "not replicated, one job alone", 7},
	{Beside, "not replicated, as many jobs as replicas", 1},
	{Parallel, "replicated", 2},
	{Each, "replicated, each message acknowledged", 3},
	{Mirror, "replicated, mirror protocol", 4},
}

// figure7 is the ping-pong of one language.
func (e *experiment) figure7() part {
	q := part{section: report.Section{Title: "Figure 7: latency and throughput"}}
	all := e.items(PingPong)
	var sizes []*item // of the first language
	for _, x := range all {
		if x.name == all[0].name && x.has(Beside) && x.has(Parallel) && x.bytes > 0 {
			sizes = append(sizes, x)
		}
	}
	if len(sizes) == 0 {
		q.claims = []report.Claim{{
			Where: "section 4.3, figure 7", What: "latency and throughput of a ping-pong", Paper: "+25 % only below 100 bytes",
			Ours: "not measured", Verdict: report.Open, Explanation: "The measurements have no ping-pong, with replicas and without.",
		}}
		return q
	}
	q.section.Text = []string{fmt.Sprintf("A message to and fro between two ranks with %d replicas each, in %s. Its latency is the time of one way, "+
		"until the last replica has it, and the throughput is the size by that, as NetPIPE has it. Overheads are against as many jobs without replicas side by side, with 95 %% confidence.", all[0].replicas, all[0].name)}
	q.section.Figures = []*report.Figure{
		timesFigure("figure-7a", "Figure 7a: latency", "µs one way", sizes, func(s, _ float64) float64 { return s * 1e6 }),
		timesFigure("figure-7b", "Figure 7b: throughput", "MB/s", sizes, func(s, bytes float64) float64 { return bytes / s / 1e6 }),
		overheadFigure("figure-7a-overhead", "Figure 7a: by how much the latency is longer", "overhead (%)", sizes, func(r float64) float64 { return 100 * (r - 1) }),
		overheadFigure("figure-7b-overhead", "Figure 7b: by how much the throughput is lower", "decrease (%)", sizes, func(r float64) float64 { return 100 * (1 - 1/r) }),
	}
	q.section.Tables = []*report.Table{pingPongTable(sizes)}
	q.claims = e.figure7Claims(sizes)
	return q
}

// timesFigure draws medians with quartiles.
func timesFigure(name, title, unit string, sizes []*item, y func(seconds, bytes float64) float64) *report.Figure {
	f := &report.Figure{
		Name: name, Title: title, Caption: "Medians and quartiles of the rounds.",
		X: report.Axis{Label: "bytes", Log: true}, Y: report.Axis{Label: unit, Log: true},
	}
	for _, w := range shown {
		s := report.Series{Name: w.name, Spread: report.Whiskers, Look: w.look}
		for _, x := range sizes {
			if times := x.seconds(w.setting); len(times) > 0 {
				at := func(q float64) float64 { return y(quantile(times, q), float64(x.bytes)) }
				p := report.Point{X: float64(x.bytes), Y: at(0.5), Low: at(0.25), High: at(0.75)}
				p.Low, p.High = min(p.Low, p.High), max(p.Low, p.High)
				s.Points = append(s.Points, p)
			}
		}
		if len(s.Points) > 0 {
			f.Series = append(f.Series, s)
		}
	}
	return f
}

// overheadFigure draws estimates with their intervals, and what the paper's text has.
func overheadFigure(name, title, unit string, sizes []*item, y func(ratio float64) float64) *report.Figure {
	f := &report.Figure{
		Name: name, Title: title, Caption: "Estimates with 95 % confidence. Of the paper's curve the text has one point, and the line that it crosses at 100 bytes.",
		X: report.Axis{Label: "bytes", Log: true}, Y: report.Axis{Label: unit},
	}
	for _, w := range shown {
		s := report.Series{Name: w.name, Spread: report.Whiskers, Look: w.look}
		if w.setting == Alone || w.setting == Beside {
			continue
		}
		for _, x := range sizes {
			if e := x.overhead(w.setting, elapsed); !math.IsNaN(e.Ratio) {
				p := report.Point{X: float64(x.bytes), Y: y(e.Ratio), Low: y(e.Ratio), High: y(e.Ratio)}
				if !math.IsNaN(e.From) {
					p.Low, p.High = y(e.From), y(e.To)
				}
				s.Points = append(s.Points, p)
			}
		}
		if len(s.Points) > 0 {
			f.Series = append(f.Series, s)
		}
	}
	f.Series = append(f.Series, report.Series{Name: "the paper, 1 byte", Style: report.Points, Look: 7, Points: []report.Point{{X: 1, Y: y(paperReplicated / paperNative)}}})
	line := report.Series{Name: "the paper's 25 %, up to 100 bytes", Style: report.Line, Dashed: true, Look: 7}
	for _, x := range []float64{1, paperSmall} {
		line.Points = append(line.Points, report.Point{X: x, Y: 100 * noticeable})
	}
	f.Series = append(f.Series, line)
	return f
}

// pingPongTable is figure 7 in numbers.
func pingPongTable(sizes []*item) *report.Table {
	t := &report.Table{
		Name: "figure-7", Title: "Figure 7 in numbers", Caption: "µs one way (medians), and overheads in percent with 95 % confidence.",
		Columns: []string{"bytes", "alone, µs", "side by side, µs", "replicated, µs", "overhead, %", "each acknowledged, %", "mirror, %", "decrease of throughput, %"},
	}
	µs := func(x *item, s Setting) string {
		if !x.has(s) {
			return "—"
		}
		return fmt.Sprintf("%.3g", x.median(s)*1e6)
	}
	for _, x := range sizes {
		o := x.overhead(Parallel, elapsed)
		t.Rows = append(t.Rows, []string{
			report.Number(float64(x.bytes)), µs(x, Alone), µs(x, Beside), µs(x, Parallel), overheadText(o),
			overheadText(x.overhead(Each, elapsed)), overheadText(x.overhead(Mirror, elapsed)), percent(2 - 1/o.Ratio),
		})
	}
	return t
}

func (e *experiment) figure7Claims(sizes []*item) []report.Claim {
	const where = "section 4.3, figure 7a"
	first := sizes[0]
	o, each := first.overhead(Parallel, elapsed), ratio.Of(first.ratios(Each, Parallel, elapsed))
	verdict, why := holds(paperReplicated/paperNative, o)
	if verdict == report.Differs {
		why = e.whyFewer(first, o, each)
	}
	claims := []report.Claim{{
		Where: where, What: fmt.Sprintf("by how much a message of %s takes longer with replicas", bytesText(first.bytes)),
		Paper:      fmt.Sprintf("%s %% (1.67 → 2.37 µs, 1 byte)", percent(paperReplicated/paperNative)),
		Ours:       fmt.Sprintf("%s %% (%.3g → %.3g µs)", overheadText(o), first.median(Beside)*1e6, first.median(Parallel)*1e6),
		Difference: fmt.Sprintf("%.1f points", 100*(o.Ratio-paperReplicated/paperNative)),
		Verdict:    verdict, Explanation: why,
	}}
	var small, large []*item
	for _, x := range sizes {
		if x.bytes < paperSmall {
			small = append(small, x)
		} else {
			large = append(large, x)
		}
	}
	if len(small) > 0 {
		verdict, why := above(1+noticeable, overheads(small)...)
		if verdict == report.Differs {
			why = e.whyFewer(first, o, each)
		}
		claims = append(claims, report.Claim{
			Where: where, What: "below 100 bytes the overhead is noticeable: more than 25 %", Paper: "more than 25 %",
			Ours: overheadList(small), Verdict: verdict, Explanation: why,
		})
	}
	if len(large) > 0 {
		verdict, why := below(1+noticeable, overheads(large)...)
		if verdict == report.Differs {
			why = whyLarge(large)
		}
		claims = append(claims, report.Claim{
			Where: where, What: "from 100 bytes on it is less than that", Paper: "less than 25 %",
			Ours: overheadList(large), Verdict: verdict, Explanation: why,
		})
		verdict, why = below(1/(1-noticeable), overheads(large)...)
		if verdict == report.Differs {
			why = whyLarge(large)
		}
		worst := 0.0
		for _, x := range large {
			worst = max(worst, 1-1/x.overhead(Parallel, elapsed).Ratio)
		}
		claims = append(claims, report.Claim{
			Where: "section 4.3, figure 7b", What: "the throughput's results are similar: from 100 bytes on it decreases by less than 25 %", Paper: "similar",
			Ours: fmt.Sprintf("by %.1f %% at most", 100*worst), Verdict: verdict, Explanation: why,
		})
	}
	return claims
}

func overheads(sizes []*item) (all []ratio.Estimate) {
	for _, x := range sizes {
		all = append(all, x.overhead(Parallel, elapsed))
	}
	return all
}

func overheadList(sizes []*item) string {
	var all []string
	for _, x := range sizes {
		all = append(all, fmt.Sprintf("%s %% with %s", overheadText(x.overhead(Parallel, elapsed)), bytesText(x.bytes)))
	}
	return strings.Join(all, "; ")
}

func bytesText(n int) string {
	switch {
	case n == 1:
		return "1 byte"
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%d MiB", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%d KiB", n>>10)
	}
	return fmt.Sprintf("%d bytes", n)
}

// whyFewer explains an overhead that isn't the paper's by what an acknowledgement for each message
// changes.
func (e *experiment) whyFewer(x *item, o, each ratio.Estimate) string {
	if math.IsNaN(each.From) {
		return "An acknowledgement for each message, as the paper has it, wasn't measured often enough to say more."
	}
	text := fmt.Sprintf("Tested: with an acknowledgement for each message, as the paper has it, this machine takes %s %% more than with Banyan's, which are for many: the overhead is %s %%. ",
		overheadText(each), overheadText(x.overhead(Each, elapsed)))
	switch {
	case each.From > 1:
		text += "So the acknowledgements are a part of it."
	case o.Ratio < paperReplicated/paperNative:
		text += "So it isn't the acknowledgements that make the difference on this machine, at least not by themselves: " +
			"in the paper a send also waits for them, which Banyan's, whose small messages are kept as copies, doesn't."
	default:
		text += "So it isn't the acknowledgements that make the difference."
	}
	return text
}

// whyLarge says where a large message's overhead is, by which messages are copied.
func whyLarge(large []*item) string {
	var copied, pulled []float64
	for _, x := range large {
		if x.bytes <= copiedLimit {
			copied = append(copied, x.ratios(Parallel, Beside, elapsed)...)
		} else {
			pulled = append(pulled, x.ratios(Parallel, Beside, elapsed)...)
		}
	}
	return fmt.Sprintf("Tested: messages up to 64 KiB, of which a copy is kept for the other replicas, take %s %% more, and larger ones, of which none is kept, %s %%.",
		overheadText(ratio.Of(copied)), overheadText(ratio.Of(pulled)))
}

// copiedLimit is up to how many bytes a message is kept as a copy.
const copiedLimit = 64 << 10
