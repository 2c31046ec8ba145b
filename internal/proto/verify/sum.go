package verify

import "hash/crc32"

// castagnoli is the table of the polynomial of CRC32C, for which processors have an instruction;
// and it finds every burst of up to 32 wrong bits. Hashes that are faster without such help
// (xxHash, say) give no such guarantee, and aren't in the standard library. The library makes the
// table once, when it is first asked for: that takes a quarter of a millisecond, and few jobs need
// it.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// Odd numbers: to multiply by one is a bijection modulo 2^32.
const (
	oddTag  = 0x9e3779b1
	oddSize = 0x85ebca77
	oddRoll = 0xc2b2ae3d
)

// Sum is the digest of a message. For a given tag and length it is a bijection of the CRC
// of the data.
func Sum(tag int32, data []byte) uint32 {
	return crc32.Checksum(data, castagnoli()) + uint32(tag)*oddTag + uint32(len(data))*oddSize
}

// roll is the digest of a channel after one more message: for a given message a bijection of
// the digest before, so that a difference stays.
func roll(digest, sum uint32) uint32 { return digest*oddRoll + sum + 1 }
