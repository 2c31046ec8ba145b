package launcher

import (
	"slices"
	"strconv"
	"strings"
)

// differing are the numbers of replicas where ranks differ in them, else nil.
func (p *plan) differing() []int {
	if slices.Min(p.Degrees) == slices.Max(p.Degrees) {
		return nil
	}
	return p.Degrees
}

// degrees is how the processes are told: one number for all ranks, or one for each.
func (p *plan) degrees() string {
	if p.differing() == nil {
		return strconv.Itoa(p.Replicas)
	}
	texts := make([]string, len(p.Degrees))
	for i, d := range p.Degrees {
		texts[i] = strconv.Itoa(d)
	}
	return strings.Join(texts, ",")
}
