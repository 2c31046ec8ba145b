package logp

import (
	"fmt"
	"strconv"
	"strings"

	"banyan/internal/study/field"
)

// SetDistance sets the distance of opportunistic correction, optimised or not: "4"
// for four neighbours on each side, "1:4" for one on the left and four on the
// right, "0:4" for corrections in one direction, "" for none.
func (c *Case) SetDistance(text string) error {
	if text == "" {
		c.Distance, c.LeftDistance, c.Unequal = 0, 0, false
		return nil
	}
	left, right, unequal := strings.Cut(text, ":")
	if !unequal {
		right = left
	}
	l, err := strconv.Atoi(left)
	if err != nil {
		return fmt.Errorf("%q: want a number, or two for left and right as in 0:4", text)
	}
	r, err := strconv.Atoi(right)
	if err != nil {
		return fmt.Errorf("%q: want a number, or two for left and right as in 0:4", text)
	}
	c.Distance, c.LeftDistance, c.Unequal = r, 0, l != r
	if c.Unequal {
		c.LeftDistance = l
	}
	return nil
}

// distance is the inverse of SetDistance.
func (c *Case) distance() string {
	if c.Unequal {
		return fmt.Sprintf("%d:%d", c.LeftDistance, c.Distance)
	}
	return strconv.Itoa(c.Distance)
}

// distanceField is a number where distances are equal.
func (r *Row) distanceField() any {
	if r.Unequal {
		return r.distance()
	}
	return unlessZero(r.Distance)
}

func (c *Case) validateDistance() error {
	given := c.Distance != 0 || c.LeftDistance != 0 || c.Unequal
	switch {
	case given && !c.Correction.HasDistance():
		return field.Errorf("distance", "%s: correction %s has none", c.distance(), c.Correction)
	case c.LeftDistance != 0 && !c.Unequal:
		return field.Errorf("distance", "%d to the left: distances are equal", c.LeftDistance)
	}
	return nil
}
