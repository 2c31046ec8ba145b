package process

import (
	"slices"
	"testing"
)

// pooled counts what is in a pool.
func pooled(b *buffers) (n int) {
	for _, free := range b.free {
		n += len(free)
	}
	return n
}

func TestPayloadOfTheTransportIsCopied(t *testing.T) {
	var pool buffers
	theirs := []byte{1, 2, 3}
	f := payload{theirs, ownedByTransport}
	mine := f.keep(&pool, 2)
	if theirs[0] = 9; !slices.Equal(mine, []byte{1, 2}) {
		t.Errorf("kept %v", mine)
	}
	if f.release(&pool); pooled(&pool) != 0 {
		t.Error("the transport's memory is in the pool")
	}
}

func TestEmptyPayloadOfTheTransportIsNothing(t *testing.T) {
	var pool buffers
	f := payload{bytes: make([]byte, 64)[:0]}
	if b := f.keep(&pool, 0); b != nil {
		t.Errorf("kept %v with room for %d", b, cap(b))
	}
}

func TestPayloadOfTheFrameIsKeptOrPutBack(t *testing.T) {
	var pool buffers
	b := pool.copyOf([]byte{1, 2, 3})
	f := payload{b, ownedByFrame}
	if mine := f.keep(&pool, 2); &mine[0] != &b[0] || len(mine) != 2 {
		t.Error("it was copied, or has another length")
	}
	if f.release(&pool); pooled(&pool) != 0 {
		t.Error("it is in the pool although it was kept")
	}
	f = payload{b, ownedByFrame}
	if f.release(&pool); pooled(&pool) != 1 {
		t.Error("it isn't in the pool")
	}
}
