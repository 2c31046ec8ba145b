package agent

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"io"
)

// Of the part of a snapshot that another host keeps, only what has changed travels: the agents of
// both hosts digest their memory block by block, and the blocks that differ are copied. That needs
// no word from the process of what it has changed, and is right whatever was in the memory before.

const (
	// partBlock is the length of a block. Smaller ones follow scattered changes better; a gigabyte
	// has 256 KiB of digests.
	partBlock = 64 << 10
	// digestLength is how much is kept of a SHA-256: two different blocks with equal digests don't
	// occur.
	digestLength = 16
)

// PartDigests say what a memory of snapshots has, without its bytes.
type PartDigests struct {
	Length int64
	Blocks []byte // a digest for each block
}

// blocks is how many blocks there are in a part of some length.
func blocks(length int64) int { return int((length + partBlock - 1) / partBlock) }

// digest digests all that a reader gives.
func digest(from io.ReaderAt, length int64) (PartDigests, error) {
	d := PartDigests{Length: length, Blocks: make([]byte, 0, blocks(length)*digestLength)}
	b := make([]byte, partBlock)
	for at := int64(0); at < length; at += partBlock {
		block := b[:min(partBlock, length-at)]
		if _, err := from.ReadAt(block, at); err != nil {
			return d, err
		}
		d.Blocks = appendDigest(d.Blocks, block)
	}
	return d, nil
}

// digestAgain gives the digests of what had others, before some blocks were written.
func digestAgain(from io.ReaderAt, had PartDigests, some *PartBlocks) (PartDigests, error) {
	d := PartDigests{Length: some.Length, Blocks: make([]byte, blocks(some.Length)*digestLength)}
	copy(d.Blocks, had.Blocks)
	b := make([]byte, partBlock)
	for i, at, end, ok := some.next(0); ok; i, at, end, ok = some.next(i + 1) {
		block := b[:end-at]
		if _, err := from.ReadAt(block, at); err != nil {
			return d, err
		}
		appendDigest(d.Blocks[:i*digestLength], block)
	}
	return d, nil
}

func appendDigest(to, block []byte) []byte {
	sum := sha256.Sum256(block)
	return append(to, sum[:digestLength]...)
}

func (d PartDigests) of(block int) []byte {
	return d.Blocks[block*digestLength:][:digestLength]
}

// Equal says whether two memories have the same.
func (d PartDigests) Equal(e PartDigests) bool {
	return d.Length == e.Length && bytes.Equal(d.Blocks, e.Blocks)
}

// valid says whether there is a digest for each block.
func (d PartDigests) valid() bool {
	return d.Length >= 0 && len(d.Blocks) == blocks(d.Length)*digestLength
}

// Changes are the blocks that a memory with digests old lacks to become one with digests d.
func (d PartDigests) Changes(old PartDigests) *PartBlocks {
	n := blocks(d.Length)
	c := &PartBlocks{Length: d.Length, bits: make([]byte, (n+7)/8)}
	known := blocks(old.Length)
	for i := range n {
		if i >= known || !bytes.Equal(d.of(i), old.of(i)) {
			c.bits[i/8] |= 1 << (i % 8)
		}
	}
	return c
}

// PartBlocks are some blocks of a part that has Length bytes.
type PartBlocks struct {
	Length int64
	bits   []byte
}

func (b *PartBlocks) has(i int) bool { return b.bits[i/8]&(1<<(i%8)) != 0 }

// Bytes is how long the blocks are together.
func (b *PartBlocks) Bytes() (n int64) {
	for i := range blocks(b.Length) {
		if b.has(i) {
			n += min(partBlock, b.Length-int64(i)*partBlock)
		}
	}
	return n
}

// next is the first of the blocks that isn't before block i, as a range of the part. ok is false if
// there is none.
func (b *PartBlocks) next(i int) (block int, at, end int64, ok bool) {
	for n := blocks(b.Length); i < n; i++ {
		if b.has(i) {
			at = int64(i) * partBlock
			return i, at, min(at+partBlock, b.Length), true
		}
	}
	return i, 0, 0, false
}

// errBlocks says that bytes are no PartBlocks or PartDigests.
var errBlocks = errors.New("blocks of a snapshot that can't be")

// Encode gives blocks as bytes; nil has none.
func (b *PartBlocks) Encode() []byte {
	if b == nil {
		return nil
	}
	return append(binary.LittleEndian.AppendUint64(nil, uint64(b.Length)), b.bits...)
}

// DecodePartBlocks reads what Encode gave.
func DecodePartBlocks(x []byte) (*PartBlocks, error) {
	if len(x) == 0 {
		return nil, nil
	}
	if len(x) < 8 {
		return nil, errBlocks
	}
	b := &PartBlocks{Length: int64(binary.LittleEndian.Uint64(x)), bits: x[8:]}
	if b.Length < 0 || b.Length > int64(len(x))*8*partBlock || len(b.bits) != (blocks(b.Length)+7)/8 {
		return nil, errBlocks
	}
	return b, nil
}

// Encode gives digests as bytes.
func (d PartDigests) Encode() []byte {
	return append(binary.LittleEndian.AppendUint64(nil, uint64(d.Length)), d.Blocks...)
}

// DecodePartDigests reads what Encode gave.
func DecodePartDigests(x []byte) (d PartDigests, err error) {
	if len(x) < 8 {
		return d, errBlocks
	}
	d = PartDigests{int64(binary.LittleEndian.Uint64(x)), x[8:]}
	if d.Length > int64(len(x))*partBlock || !d.valid() {
		return PartDigests{}, errBlocks
	}
	return d, nil
}

// blockReader reads some blocks, one after another.
type blockReader struct {
	from   io.ReaderAt
	blocks *PartBlocks
	block  int   // the next one
	at     int64 // what is left of the present one
	end    int64
}

func (r *blockReader) Read(b []byte) (int, error) {
	if r.at == r.end {
		block, at, end, ok := r.blocks.next(r.block)
		if !ok {
			return 0, io.EOF
		}
		r.block, r.at, r.end = block+1, at, end
	}
	n, err := r.from.ReadAt(b[:min(int64(len(b)), r.end-r.at)], r.at)
	r.at += int64(n)
	return n, err
}

func (r *blockReader) Close() error { return nil }

// blockWriter puts bytes where some blocks are.
type blockWriter struct {
	to     io.WriterAt
	blocks *PartBlocks
	block  int
	at     int64
	end    int64
	// closed is told at the end whether all blocks have come.
	closed func(err error) error
}

// errBlocksLeft says that blocks haven't come, or others have.
var errBlocksLeft = errors.New("not all changed blocks of a snapshot have come")

func (w *blockWriter) Write(b []byte) (n int, err error) {
	for len(b) > 0 {
		if w.at == w.end {
			block, at, end, ok := w.blocks.next(w.block)
			if !ok {
				return n, errBlocksLeft
			}
			w.block, w.at, w.end = block+1, at, end
		}
		k, err := w.to.WriteAt(b[:min(int64(len(b)), w.end-w.at)], w.at)
		w.at += int64(k)
		n, b = n+k, b[k:]
		if err != nil {
			return n, err
		}
	}
	return n, nil
}

// Close implements io.Closer.
func (w *blockWriter) Close() error {
	var err error
	if _, _, _, more := w.blocks.next(w.block); more || w.at < w.end {
		err = errBlocksLeft
	}
	return w.closed(err)
}
