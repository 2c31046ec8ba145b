package detection

import (
	"slices"
	"time"
)

// knowledge is how the live members learnt of the victims. Times are monotonic.
type knowledge struct {
	began int64 // the first victim's fault
	of    []heard
}

// heard is how they learnt of one.
type heard struct {
	struck  int64
	at      []int64 // of each that learnt of it
	missing int     // those that didn't
}

// enter writes it into a row.
func (k knowledge) enter(r *Row) {
	first, last := int64(0), int64(0)
	r.Known = -1
	for _, h := range k.of {
		r.Missing = max(r.Missing, h.missing)
		if known := len(h.at); r.Known < 0 || known < r.Known {
			r.Known = known
		}
		if len(h.at) == 0 {
			continue
		}
		low, high := slices.Min(h.at), slices.Max(h.at)
		if first == 0 || low < first {
			first = low
		}
		last = max(last, high)
		victims := time.Duration(len(k.of))
		r.Each += time.Duration(high-h.struck) / victims
		r.Spread += time.Duration(high-low) / victims
	}
	if r.Known > 0 {
		r.First, r.Last = time.Duration(first-k.began), time.Duration(last-k.began)
	}
}
