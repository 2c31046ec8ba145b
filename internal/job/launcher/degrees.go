package launcher

import "slices"

// differing are the numbers of replicas where ranks differ in them, else nil.
func (p *plan) differing() []int {
	if slices.Min(p.Degrees) == slices.Max(p.Degrees) {
		return nil
	}
	return p.Degrees
}
