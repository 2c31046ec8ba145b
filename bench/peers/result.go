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

// Result is what was measured of a row.
type Result struct {
	Row
	// Times are nanoseconds of one operation, by library as in Bench.Libraries;
	// NaN where one has no such row.
	Times []Spread
	// Ratio is that of the first library to Better, the best of the others,
	// within a round; NaN without peers.
	Ratio  Spread
	Better string
}

// Run measures rows in so many rounds. It calls progress after each measurement. The floor is
// measured once a round.
func (b *Bench) Run(ctx context.Context, rows []Row, rounds int, progress func()) (results []Result, floor Spread, err error) {
	times := make([][][]float64, len(rows)) // by row, library, round
	for i := range times {
		times[i] = make([][]float64, len(b.Libraries))
	}
	var floors []float64
	for round := range rounds {
		f, err := b.Floor(ctx)
		if err != nil {
			return nil, floor, err
		}
		floors = append(floors, f)
		for i, r := range rows {
			for k := range b.Libraries {
				l := (k + round) % len(b.Libraries)
				ns, ok, err := b.Measure(ctx, l, r)
				if err != nil {
					return nil, floor, err
				}
				if ok {
					times[i][l] = append(times[i][l], ns)
				}
				progress()
			}
		}
	}
	for i, r := range rows {
		results = append(results, b.result(r, times[i]))
	}
	return results, SpreadOf(floors), nil
}

// result sums up the times of a row, by library and round.
func (b *Bench) result(r Row, times [][]float64) Result {
	x := Result{Row: r, Ratio: SpreadOf(nil)}
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
	x.Better = b.Libraries[better].Name
	var ratios []float64
	for round := range times[0] {
		ratios = append(ratios, times[0][round]/times[better][round])
	}
	x.Ratio = SpreadOf(ratios)
	return x
}
