package peers

import (
	"context"
	"math"
	"slices"
)

// Spread is a median with its quartiles.
type Spread struct {
	Median float64 `json:"median"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
}

// SpreadOf sums up some values; it is NaN without any.
func SpreadOf(values []float64) Spread {
	if len(values) == 0 {
		return Spread{math.NaN(), math.NaN(), math.NaN()}
	}
	s := slices.Sorted(slices.Values(values))
	at := func(q float64) float64 {
		x := q * float64(len(s)-1)
		i := int(x)
		if i+1 == len(s) {
			return s[i]
		}
		return s[i] + (x-float64(i))*(s[i+1]-s[i])
	}
	return Spread{at(.5), at(.25), at(.75)}
}

// Comparison is what was measured of one thing in all libraries.
type Comparison struct {
	// Times are nanoseconds, by library; NaN where one has no such thing.
	Times []Spread
	// Ratio is that of the first library to Better, the best of the others,
	// within a round; NaN without peers.
	Ratio  Spread
	Better string
}

// Result is what was measured of a row.
type Result struct {
	Row
	Comparison
	// Floor is that of the moments in which the row was measured, in nanoseconds: virtual cores are
	// near to each other in some minutes and far in others.
	Floor Spread
}

// Run measures rows in so many rounds. It calls progress after each measurement. The floor is
// measured before each row of a round; the one that it returns is that of all.
func (b *Bench) Run(ctx context.Context, rows []Row, rounds int, progress func()) (results []Result, floor Spread, err error) {
	floors := make([][]float64, len(rows))
	times, err := alternate(len(rows), len(b.Libraries), rounds, func(i int) error {
		f, err := b.Floor(ctx)
		floors[i] = append(floors[i], f)
		return err
	}, func(i, library int) (float64, bool, error) {
		ns, ok, err := b.Measure(ctx, library, rows[i])
		progress()
		return ns, ok, err
	})
	if err != nil {
		return nil, floor, err
	}
	for i, r := range rows {
		results = append(results, Result{r, compare(b.Libraries, times[i]), SpreadOf(floors[i])})
	}
	return results, SpreadOf(slices.Concat(floors...)), nil
}

// alternate measures things in rounds. In each, every library measures every thing once, in an
// order that rotates with the round; begin comes before each thing. The times are by thing, library
// and round; those that measure isn't ok with are left out.
func alternate(things, libraries, rounds int, begin func(thing int) error, measure func(thing, library int) (ns float64, ok bool, err error)) (times [][][]float64, err error) {
	times = make([][][]float64, things)
	for i := range times {
		times[i] = make([][]float64, libraries)
	}
	for round := range rounds {
		for i := range things {
			if err := begin(i); err != nil {
				return nil, err
			}
			for k := range libraries {
				l := (k + round) % libraries
				ns, ok, err := measure(i, l)
				if err != nil {
					return nil, err
				}
				if ok {
					times[i][l] = append(times[i][l], ns)
				}
			}
		}
	}
	return times, nil
}

// compare sums up the times of one thing, by library and round.
func compare(libraries []Library, times [][]float64) Comparison {
	x := Comparison{Ratio: SpreadOf(nil)}
	better := -1
	for l := range times {
		x.Times = append(x.Times, SpreadOf(times[l]))
		if l > 0 && len(times[l]) > 0 && (better < 0 || x.Times[l].Median < x.Times[better].Median) {
			better = l
		}
	}
	if better < 0 {
		return x
	}
	x.Better = libraries[better].Name
	var ratios []float64
	for round := range times[0] {
		ratios = append(ratios, times[0][round]/times[better][round])
	}
	x.Ratio = SpreadOf(ratios)
	return x
}

// Mean is the geometric mean of the ratios of some comparisons, NaN if none has one.
func Mean(all []Comparison) float64 {
	sum, n := 0.0, 0
	for _, x := range all {
		if !math.IsNaN(x.Ratio.Median) {
			sum, n = sum+math.Log(x.Ratio.Median), n+1
		}
	}
	return math.Exp(sum / float64(n))
}
