// Package seal keeps what two processes say to each other from everybody between them: it makes
// records of a stream of bytes, which nobody else can read, change, repeat, leave out or reorder.
// Package handshake agrees on the secrets; the links of a job (mesh) and its meetings use the
// records where a user asks for it (banyan run --encrypt).
//
// # The records
//
//	length     2 bytes, little-endian: of the data, 1 to MaxData
//	data       encrypted by AES-256-GCM
//	tag        16 bytes: of data and length
//
// Each direction has a secret of its own, and from it a key and a mask of 12 bytes, by HKDF with
// SHA-256 (RFC 5869). The nonce of a record is its number under this key, combined with the mask by
// XOR, as in TLS 1.3 (RFC 8446, section 5.3): both sides count, so no record carries a number. A
// record that was changed, repeated, left out or moved has another number or tag than the one that
// its reader computes, and ends the stream.
//
// # Invariants
//
//   - No nonce is used twice: numbers only rise, and a key belongs to one direction of one
//     connection.
//   - A key serves for 2^32 blocks of 16 bytes (64 GiB). Then both sides replace secret, key and
//     mask by the next ones, at the same record, and forget the old ones. The chance to tell the
//     records of one key from noise is below 2^-64 (RFC 8446, section 5.5, allows 2^-60).
//   - Nothing of a record is handed on before its tag was found right.
//   - Sealing and opening allocate nothing, except when the key is replaced.
//
// # Limits
//
// Sizes and times of records are not hidden. The end of a stream isn't sealed: an attacker can cut
// a connection between two records, and the reader sees an end as if the other side had hung up.
// Users of a stream must not take its end for anybody's word.
package seal
