package detection

import (
	"fmt"
	"io"
	"math"
	"strconv"
	"text/tabwriter"
)

// Summary is what the runs of one setting showed together.
type Summary struct {
	Setting
	Runs int
	// First and Last are medians in milliseconds; a run in which not all
	// learnt of the fault counts as infinitely long.
	First, Last Estimate
	// Each and Spread are medians of the runs in which all learnt of all.
	Each, Spread Estimate
	// Ratio is Last against that of Banyan in the same runs, NaN for Banyan
	// itself. MessageRatio is the same of Messages.
	Ratio        Estimate
	MessageRatio float64
	// FalseSuspicions are those of all runs, Rate those of the quiet times in
	// each hour of a member.
	FalseSuspicions int
	Rate            Estimate
	Messages, CPU   float64 // means of the runs

	MemberHours  float64
	quiet        int
	first, last  []float64
	each, spread []float64
}

// Summarise puts the rows of each setting together, in the order in which the
// settings come.
func Summarise(rows []Row) []*Summary {
	var all []*Summary
	of := make(map[Setting]*Summary)
	for _, r := range rows {
		s := of[r.Setting]
		if s == nil {
			s = &Summary{Setting: r.Setting}
			of[r.Setting], all = s, append(all, s)
		}
		s.add(&r)
	}
	for _, s := range all {
		s.First, s.Last = median(s.first), median(s.last)
		s.Each, s.Spread = median(s.each), median(s.spread)
		s.Rate = rate(s.quiet, s.MemberHours)
		s.Messages /= float64(s.Runs)
		s.CPU /= float64(s.Runs)
	}
	for _, s := range all {
		s.Ratio = Estimate{math.NaN(), math.NaN(), math.NaN()}
		s.MessageRatio = math.NaN()
		if s.System.isBanyan() {
			continue
		}
		for _, ours := range []System{Banyan, BanyanBare} {
			key := s.Setting
			key.System = ours
			if base := of[key]; base != nil {
				s.Ratio = ratio(s.last, base.last)
				s.MessageRatio = s.Messages / base.Messages
				break
			}
		}
	}
	return all
}

func (s *Summary) add(r *Row) {
	s.Runs++
	s.FalseSuspicions += r.FalseSuspicions
	s.quiet += r.QuietSuspicions
	s.MemberHours += r.MemberHours
	s.Messages += r.Messages
	s.CPU += r.CPU
	if r.Fault == None || r.Spoilt {
		return
	}
	first, last := math.Inf(1), math.Inf(1)
	if r.Known > 0 {
		first = ms(r.First)
	}
	if r.all() {
		last = ms(r.Last)
	}
	s.first, s.last = append(s.first, first), append(s.last, last)
	if r.all() {
		s.each, s.spread = append(s.each, ms(r.Each)), append(s.spread, ms(r.Spread))
	}
}

// WriteTable prints summaries for people.
func WriteTable(w io.Writer, all []*Summary) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "system\tn\tη ms\tδ ms\tfault\tvictims\truns\tfirst ms\tspread ms\tlast ms\t95 %\tagainst banyan\t95 %\tfalse\tper member-hour\t95 %\tmessages/η\tagainst banyan\tcpu %\t")
	for _, s := range all {
		fmt.Fprintf(t, "%s\t%d\t%g\t%g\t%s\t%s\t%d\t%s\t%s\t%s\t%s\t%s\t%s\t%d\t%s\t%s\t%.2f\t%s\t%.2f\t\n",
			s.System, s.N, ms(s.Period), ms(s.Timeout), s.Fault, s.struck(), s.Runs, number(s.First.Value, "%.2f"), number(s.Spread.Value, "%.2f"),
			number(s.Last.Value, "%.2f"), interval(s.Last, "%.2f"),
			number(s.Ratio.Value, "%.2f"), interval(s.Ratio, "%.2f"), s.FalseSuspicions,
			number(s.Rate.Value, "%.3g"), interval(s.Rate, "%.3g"),
			s.Messages, number(s.MessageRatio, "%.2f"), s.CPU)
	}
	return t.Flush()
}

// struck says whom the fault hits, in a word or some.
func (s *Setting) struck() string {
	if s.Fault == None {
		return "0"
	}
	words := strconv.Itoa(s.victims())
	if s.victims() > 1 && s.where() != Anywhere {
		words += " " + string(s.where())
	}
	if s.victims() > 1 && s.Apart > 0 {
		words += fmt.Sprintf(", %v apart", s.Apart)
	}
	return words
}

// number prints nothing for an unknown time, ∞ for an event that never came.
func number(x float64, format string) string {
	switch {
	case math.IsNaN(x):
		return ""
	case math.IsInf(x, 1):
		return "∞"
	}
	return fmt.Sprintf(format, x)
}

func interval(e Estimate, format string) string {
	if math.IsNaN(e.Low) || math.IsNaN(e.High) {
		return ""
	}
	return number(e.Low, format) + "–" + number(e.High, format)
}
