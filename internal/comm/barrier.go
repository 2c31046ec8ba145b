package comm

// Barrier returns at no member before every member has called it.
//
// Dissemination: in round k each member tells the one 2^k ahead and hears from
// the one 2^k behind. ⌈log2 n⌉ rounds, n messages in each.
func (c *Comm) Barrier() error {
	k := c.begin()
	n := c.Size()
	for d := 1; d < n; d *= 2 {
		if err := k.exchange((c.rank+d)%n, nil, (c.rank-d+n)%n, nil); err != nil {
			return c.wrap("Barrier", err)
		}
	}
	return nil
}
