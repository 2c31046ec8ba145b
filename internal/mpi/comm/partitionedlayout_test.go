package comm

import (
	"encoding/binary"
	"testing"
)

// Whatever layout a sender tells, the receiver's pieces lie in its buffer.
func FuzzLayout(f *testing.F) {
	for _, x := range [][4]uint64{{2, 4, 8, 8}, {maxPieces, 1 << 47, 8, 8}, {maxPieces, maxPiece, 8, 8}, {0, 0, 8, 8}, {3, 4, 8, 8}, {1, 3, 8, 8}, {1, 9, 8, 100}, {5, 0, 0, 0}} {
		f.Add(x[0], x[1], x[2], int(x[3]))
	}
	f.Fuzz(func(t *testing.T, n, size, total uint64, buffer int) {
		if buffer < 0 || buffer > 1<<16 {
			return
		}
		b := make([]byte, layoutSize)
		binary.LittleEndian.PutUint64(b, n)
		binary.LittleEndian.PutUint64(b[8:], size)
		binary.LittleEndian.PutUint64(b[16:], total)
		p := &Partitioned{data: make([]byte, buffer)}
		p.learn(b)
		l, has := p.layout.Load(), 0
		for i := range l.n {
			has += len(p.piece(l, i))
		}
		if l.err == nil && (uint64(has) != total || has > buffer) {
			t.Fatalf("%d pieces of %d bytes hold %d of %d, and there is room for %d", l.n, l.size, has, total, buffer)
		}
	})
}
