package comm

// Blocks are parts of a buffer, one for each member of a communicator or for each
// neighbour.
type Blocks struct {
	Data []byte
	// Each is the length of every block, in bytes; they follow each other. It counts
	// if Start is nil.
	Each int
	// Start and Length are, by block, where it begins in Data and how long it is, in
	// bytes. Blocks of a buffer that is received into must not overlap.
	Start, Length []int
}

// Of is block i.
func (b Blocks) Of(i int) []byte {
	if b.Start == nil {
		return b.Data[i*b.Each : (i+1)*b.Each : (i+1)*b.Each]
	}
	from := b.Start[i]
	return b.Data[from : from+b.Length[i] : from+b.Length[i]]
}

// Len is the length of block i.
func (b Blocks) Len(i int) int {
	if b.Start == nil {
		return b.Each
	}
	return b.Length[i]
}

// check tells whether the n blocks lie in the buffer.
func (b Blocks) check(what string, n int) error {
	if b.Start == nil {
		if b.Each < 0 || len(b.Data) != n*b.Each {
			return sizeError(what, len(b.Data), n*b.Each)
		}
		return nil
	}
	if len(b.Start) != n || len(b.Length) != n {
		return sizeError("the list of "+what+"'s blocks", len(b.Length), n)
	}
	for i, from := range b.Start {
		if n := b.Length[i]; n < 0 || n > 0 && (from < 0 || from > len(b.Data)-n) {
			return sizeError(what, len(b.Data), from+n)
		}
	}
	return nil
}

// Consecutive are blocks of counts[i] elements of size bytes that follow each other.
func Consecutive(data []byte, counts []int, size int) Blocks {
	b := Blocks{Data: data, Start: make([]int, len(counts)), Length: make([]int, len(counts))}
	at := 0
	for i, n := range counts {
		b.Start[i], b.Length[i] = at, n*size
		at += n * size
	}
	return b
}
