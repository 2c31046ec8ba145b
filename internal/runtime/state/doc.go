// Package state is the form in which one replica of a rank gives its state to another: a stream
// of regions, each with a name and a length, and a checksum at the end.
//
//	"banyan\x00", version
//	for each region: length of the name (2 bytes), name, length (8 bytes), bytes
//	0xffff, CRC-32C of all before it (4 bytes)
//
// All numbers are little endian.
//
// Neither side holds the stream as a whole. An Encoder hands out the memory of the regions
// itself, piece by piece. A Decoder puts the bytes where they belong as they come. So a gigabyte
// of a program's state takes no second gigabyte.
//
// # Invariants
//
//   - What is decoded without an error has the names and lengths that the reader wants, in
//     whatever order, each once, and the writer's bytes.
//   - No stream makes a Decoder take more memory than its sinks allow.
//
// # Limits
//
// A sink's memory is written before the checksum is known: after an error its contents are
// useless. Both sides are the same program on machines of the same kind: the package doesn't
// look into the bytes of a region.
package state
