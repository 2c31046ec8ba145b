package resilience

import (
	"math"

	"banyan/internal/study/field"
	"banyan/internal/study/planning/risk"
)

// Checkpointing is what checkpoints cost.
type Checkpointing struct {
	Cost    risk.Seconds // C: of writing one; the job waits
	Restart risk.Seconds // R: from an interruption until the job computes again
}

// Validate returns a *field.Error for what makes no sense.
func (c *Checkpointing) Validate() error {
	switch {
	case !(c.Cost > 0) || math.IsInf(float64(c.Cost), 0):
		return field.Errorf("checkpoint", "must be more than 0")
	case !(c.Restart >= 0) || math.IsInf(float64(c.Restart), 0):
		return field.Errorf("restart", "%v: want 0 or more", float64(c.Restart))
	}
	return nil
}

// An interval is the time of computing between two checkpoints, without that of
// writing one. MTTI is the mean time between interruptions, exponentially distributed.

// Young is the first-order estimate √(2·C·MTTI) − C of the best interval, and MTTI where Daly
// finds that to be better, from C = MTTI/2 on.
func (c *Checkpointing) Young(mtti risk.Seconds) risk.Seconds {
	if c.Cost >= mtti/2 {
		return mtti
	}
	return risk.Seconds(math.Sqrt(float64(2*c.Cost*mtti))) - c.Cost
}

// Daly is Daly's higher-order estimate of the best interval.
func (c *Checkpointing) Daly(mtti risk.Seconds) risk.Seconds {
	if c.Cost >= 2*mtti {
		return mtti
	}
	half := float64(c.Cost / (2 * mtti))
	return risk.Seconds(math.Sqrt(float64(2*c.Cost*mtti))*(1+math.Sqrt(half)/3+half/9)) - c.Cost
}

// Optimum is the interval for which [Checkpointing.RunTime] is least. Where its
// derivative is 0, y = interval/MTTI solves −ln(1 − y) − y = C/MTTI.
func (c *Checkpointing) Optimum(mtti risk.Seconds) risk.Seconds {
	cost := float64(c.Cost / mtti)
	if cost < 1e-6 {
		return c.Daly(mtti) // nothing would be left of the difference
	}
	low, high := 0.0, 1.0
	for range 60 {
		if y := (low + high) / 2; -math.Log1p(-y)-y < cost {
			low = y
		} else {
			high = y
		}
	}
	return risk.Seconds(high) * mtti
}

// RunTime is Daly's complete expression for the time that work is expected to take:
//
//	MTTI · e^(R/MTTI) · (e^((interval+C)/MTTI) − 1) · work/interval
//
// It allows for interruptions of checkpoints and restarts, and counts a checkpoint at
// the end, which keeps the result. It is exact if the work is a multiple of the
// interval. Infinity stands for more than can be written.
func (c *Checkpointing) RunTime(work, interval, mtti risk.Seconds) risk.Seconds {
	once := mtti * risk.Seconds(math.Exp(float64(c.Restart/mtti))*math.Expm1(float64((interval+c.Cost)/mtti)))
	return once * (work / interval)
}
