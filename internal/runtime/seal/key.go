package seal

import (
	"crypto/aes"
	"crypto/cipher"
	"crypto/hkdf"
	"crypto/sha256"
	"encoding/binary"
)

// Secret is what only the two ends of a connection know about one of its directions.
type Secret [32]byte

// Keys are the secrets of one end of a connection.
type Keys struct{ Out, In Secret }

// label begins all names of what is derived here, so that the same secret gives other keys
// elsewhere.
const label = "banyan seal 1 "

// keyBlocks is how many blocks of 16 bytes a key serves for.
const keyBlocks = 1 << 32

// key is the present key of one direction.
type key struct {
	secret Secret
	aead   cipher.AEAD
	mask   [12]byte
	nonce  [12]byte
	number uint64 // of the next record under this key
	used   uint64 // blocks
	limit  uint64 // keyBlocks, or less in tests
}

func newKey(secret Secret) key {
	k := key{secret: secret, limit: keyBlocks}
	k.install()
	return k
}

// install derives key and mask from the secret.
func (k *key) install() {
	block, err := aes.NewCipher(k.derive("key", 32))
	if err != nil {
		panic(err) // the key has a size that AES knows
	}
	if k.aead, err = cipher.NewGCM(block); err != nil {
		panic(err) // AES has the block size of GCM
	}
	copy(k.mask[:], k.derive("mask", len(k.mask)))
	k.number, k.used = 0, 0
}

// replace goes on to the next secret. Nobody can compute the former one from it.
func (k *key) replace() {
	k.secret = Secret(k.derive("next", len(k.secret)))
	k.install()
}

func (k *key) derive(what string, size int) []byte {
	b, err := hkdf.Expand(sha256.New, k.secret[:], label+what, size)
	if err != nil {
		panic(err) // only for more than 8,160 bytes
	}
	return b
}

// next returns the nonce of the next record, of so many bytes of data. It is valid until the next
// call.
func (k *key) next(size int) []byte {
	if k.used >= k.limit {
		k.replace()
	}
	// A block for the tag, too.
	k.used += uint64(size+15)/16 + 1
	n := binary.BigEndian.Uint64(k.mask[4:]) ^ k.number
	k.number++
	copy(k.nonce[:4], k.mask[:4])
	binary.BigEndian.PutUint64(k.nonce[4:], n)
	return k.nonce[:]
}
