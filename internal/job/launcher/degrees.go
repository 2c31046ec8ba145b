package launcher

import "slices"

// differing are the numbers of replicas of the ranks, nil if all ranks have the same number.
func (p *plan) differing() []int {
	if slices.Min(p.Degrees) == slices.Max(p.Degrees) {
		return nil
	}
	return p.Degrees
}
