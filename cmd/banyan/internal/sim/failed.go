package sim

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"banyan/internal/study/driver/logp"
)

// failedFlags say which processes are dead from the start.
type failedFlags struct {
	list  []int
	count int
	rate  rateFlag
}

// failedFlagNames are those that have no meaning with a table.
var failedFlagNames = []string{"failed", "failed-count", "failed-rate"}

func (f *failedFlags) register(flags *pflag.FlagSet) {
	flags.IntSliceVar(&f.list, "failed", nil, "processes that are dead, separated by commas")
	flags.IntVar(&f.count, "failed-count", 0, "so many more dead processes, chosen at random")
	flags.Var(&f.rate, "failed-rate", "such a part of all as more dead processes, chosen at random, as in `2%`")
}

// apply gives a valid case its dead processes, the same ones for the same seed.
func (f *failedFlags) apply(c *logp.Case, seed uint64) error {
	if f.count != 0 && f.rate != 0 {
		return errors.New("--failed-rate: --failed-count says it already")
	}
	c.Failed = slices.Compact(slices.Sorted(slices.Values(f.list))) // a process dies once
	if err := c.Validate(); err != nil {
		return flagError(err)
	}
	count, name := f.count, "count"
	if f.rate != 0 {
		count, name = int(math.Round(float64(f.rate)*float64(c.Procs))), "rate"
	}
	if err := c.FailRandom(count, rand.NewPCG(seed, 0)); err != nil {
		return fmt.Errorf("--failed-%s: %w", name, err)
	}
	return nil
}

// rateFlag is a part of a whole, written as a fraction or with a percent sign.
type rateFlag float64

func (r *rateFlag) String() string { return fmt.Sprintf("%g%%", float64(*r)*100) }
func (r *rateFlag) Type() string   { return "rate" }

func (r *rateFlag) Set(s string) error {
	digits, percent := strings.CutSuffix(s, "%")
	rate, err := strconv.ParseFloat(digits, 64)
	if percent {
		rate /= 100
	}
	if err != nil || !(rate >= 0 && rate < 1) {
		return errors.New("want a part of all processes as in 2% or 0.02, below all")
	}
	*r = rateFlag(rate)
	return nil
}
