package env

import "fmt"

// Ordering says who decides what timing decides.
type Ordering struct {
	Leader bool // one replica of each rank, its siblings follow
	Auto   bool // from the rank's first call on that timing can decide
	Clocks bool // also what the system's clocks, random numbers and process ids are
}

// ParseOrder reads a value of Order.
func ParseOrder(s string) (Ordering, error) {
	switch s {
	case "", OrderFree:
		return Ordering{}, nil
	case OrderLeader:
		return Ordering{Leader: true}, nil
	case OrderClocks:
		return Ordering{Leader: true, Clocks: true}, nil
	case OrderAuto:
		return Ordering{Leader: true, Auto: true}, nil
	}
	return Ordering{}, fmt.Errorf("%q is no order; there are %s, %s, %s and %s", s, OrderFree, OrderLeader, OrderClocks, OrderAuto)
}
