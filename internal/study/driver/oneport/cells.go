package oneport

// none is the index of nothing.
const none int32 = -1

// cell holds a message that waits, in a port or in a stopped node's memory.
type cell[M any] struct {
	message M
	other   int32 // its receiver, or its sender
	next    int32
}

// list is a queue of cells.
type list struct{ first, last int32 }

var empty = list{none, none}

// cells are all cells of a network. Those not in use are kept for the next message.
type cells[M any] struct {
	all  []cell[M]
	free int32
}

func (c *cells[M]) clear() {
	clear(c.all) // release the memory that messages point to
	c.all, c.free = c.all[:0], none
}

func (c *cells[M]) push(l *list, other int32, m *M) {
	i := c.free
	if i == none {
		i = int32(len(c.all))
		c.all = append(c.all, cell[M]{})
	} else {
		c.free = c.all[i].next
	}
	c.all[i] = cell[M]{*m, other, none}
	if l.first == none {
		l.first = i
	} else {
		c.all[l.last].next = i
	}
	l.last = i
}

// pop takes out the first; the list isn't empty.
func (c *cells[M]) pop(l *list) (other int32, m M) {
	i := l.first
	x := &c.all[i]
	other, m = x.other, x.message
	l.first = x.next
	if l.first == none {
		l.last = none
	}
	*x = cell[M]{next: c.free}
	c.free = i
	return other, m
}

// keep drops all but the first few.
func (c *cells[M]) keep(l *list, count int) {
	var kept list = empty
	for range count {
		other, m := c.pop(l)
		c.push(&kept, other, &m)
	}
	for l.first != none {
		c.pop(l)
	}
	*l = kept
}
