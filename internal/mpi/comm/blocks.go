package comm

// Blocks are memory in parts, one for each member of a communicator or for each
// neighbour.
type Blocks struct {
	// Data are blocks of Each bytes that follow each other. It is used if Parts is nil.
	Data []byte
	Each int
	// Parts are the blocks, anywhere in memory. Blocks that are received into must not overlap.
	Parts [][]byte

	err error
}

// Consecutive are blocks of counts[i] elements of size bytes that follow each other.
func Consecutive(data []byte, counts []int, size int) Blocks {
	b := Blocks{Parts: make([][]byte, len(counts))}
	at := 0
	for i, n := range counts {
		if n < 0 {
			b.err = sizeError("a count", n, 0)
			return b
		}
		end := at + n*size
		if end > len(data) {
			b.err = sizeError("the buffer", len(data), end)
			return b
		}
		b.Parts[i] = data[at:end:end]
		at = end
	}
	return b
}

// Of is block i.
func (b Blocks) Of(i int) []byte {
	if b.Parts != nil {
		return b.Parts[i]
	}
	return b.Data[i*b.Each : (i+1)*b.Each : (i+1)*b.Each]
}

// Len is the length of block i.
func (b Blocks) Len(i int) int {
	if b.Parts != nil {
		return len(b.Parts[i])
	}
	return b.Each
}

// check tells whether these are n blocks.
func (b Blocks) check(what string, n int) error {
	switch {
	case b.err != nil:
		return b.err
	case b.Parts != nil && len(b.Parts) != n:
		return sizeError("the list of "+what+"'s blocks", len(b.Parts), n)
	case b.Parts == nil && (b.Each < 0 || len(b.Data) != n*b.Each):
		return sizeError(what, len(b.Data), n*b.Each)
	}
	return nil
}
