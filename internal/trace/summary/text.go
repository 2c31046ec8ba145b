package summary

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"banyan/internal/proto"
	"banyan/internal/trace"
)

// Write writes the summary for people: a line for each number, then the histogram.
func (s *Summary) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	line := func(name string, value any, note string) {
		text := fmt.Sprintf("%-11s %-8v %s", name, value, note)
		fmt.Fprintln(out, strings.TrimRight(text, " ")) // a Writer keeps its first error
	}
	line("messages", s.Total(), fmt.Sprintf("%.1f a process: %s%s", float64(s.Total())/float64(max(1, s.procs)),
		list(s.Messages), some(s.lost, "; %d lost at dead processes")))
	line("unreached", s.Unreached(), fmt.Sprintf("of %d live; coloured by %s", s.Live(), list(s.Coloured)))
	line("coloring", s.Coloring(), fmt.Sprintf("half at %d, 90 %% at %d, 99 %% at %d",
		s.when.quantile(0.5), s.when.quantile(0.9), s.when.quantile(0.99)))
	line("quiescence", s.Quiescence, "")
	longest, gaps := s.gapText()
	line("max_gap", longest, gaps)
	if s.when.total > 0 {
		s.when.histogram(out)
	}
	return out.Flush()
}

// some is a text with a number, unless that is 0.
func some(n int, format string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(format, n)
}

// list names the purposes that occur.
func list(counts [trace.Purposes]int) string {
	var parts []string
	for p, n := range counts {
		if n > 0 {
			parts = append(parts, fmt.Sprintf("%s %d", trace.Purpose(p), n))
		}
	}
	if len(parts) == 0 {
		return "none"
	}
	return strings.Join(parts, ", ")
}

// gapText is the length of the longest gap, and a text with the number of gaps of the shortest few
// lengths.
func (s *Summary) gapText() (longest int, text string) {
	const most = 5
	gaps := s.Gaps()
	lengths := slices.Sorted(maps.Keys(gaps))
	if len(lengths) == 0 {
		return 0, "dissemination reached every process"
	}
	count := 0
	var parts []string
	for i, length := range lengths {
		count += gaps[length]
		if i < most || i == len(lengths)-1 {
			parts = append(parts, fmt.Sprintf("%d of length %d", gaps[length], length))
		} else if i == most {
			parts = append(parts, "…")
		}
	}
	plural := "s"
	if count == 1 {
		plural = ""
	}
	return lengths[len(lengths)-1], fmt.Sprintf("%d gap%s in dissemination: %s", count, plural, strings.Join(parts, ", "))
}

// The histogram's size.
const (
	maxBuckets = 20
	barWidth   = 50
)

// histogram draws how many processes were coloured when.
func (t *times) histogram(out *bufio.Writer) {
	step := bucket(t.last)
	counts := make([]int, t.last/step+1)
	for at, n := range t.all() {
		counts[at/step] += n
	}
	most := slices.Max(counts)
	wide := len(fmt.Sprint(most))
	fmt.Fprintf(out, "\nprocesses coloured at each time\n")
	for i, n := range counts {
		from := proto.Time(i) * step
		when := fmt.Sprint(from)
		if step > 1 {
			when = fmt.Sprintf("%d–%d", from, from+step-1)
		}
		fmt.Fprintln(out, strings.TrimRight(fmt.Sprintf("%11s  %*d  %s", when, wide, n, bar(n, most)), " "))
	}
}

// bucket is the least width of 1, 2, 5, 10, … that makes few enough buckets.
func bucket(last proto.Time) proto.Time {
	for step := proto.Time(1); ; step *= 10 {
		for _, s := range []proto.Time{step, 2 * step, 5 * step} {
			if last/s < maxBuckets {
				return s
			}
		}
	}
}

// bar draws n in proportion to most, to an eighth of a character. A bar that isn't 0 is visible.
func bar(n, most int) string {
	eighths := n * barWidth * 8 / max(most, 1)
	if n > 0 {
		eighths = max(eighths, 1)
	}
	text := strings.Repeat("█", eighths/8)
	if part := eighths % 8; part > 0 {
		text += string([]rune("▏▎▍▌▋▊▉")[part-1])
	}
	return text
}
