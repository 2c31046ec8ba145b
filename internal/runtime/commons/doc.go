// Package commons is the memory that the members of a communicator on one host share for their
// small collectives, and the real driver of package cells under it: it carries out the accesses
// that a cells.Machine asks for, with atomic loads, stores and compare-and-swaps.
//
// The memory begins with a line that says what it is, and one with the word sleepers. Then each
// member has Depth+1 lines: one for its words done and waits, one for each of its cells. A cell's
// line has its word, its turn, and room for Inline bytes of data. Longer data has room of its own
// behind all lines, Room bytes a cell. So calls of a few bytes touch few pages, and a member that
// waits for another one's data waits on the line that brings it.
//
// # Opening
//
// Member 0 makes the memory; a Ticket, which it sends to the others, lets them open it. Whether
// all have done so is decided in the memory itself, by one word: Decide. Every member that has
// opened it comes to the same decision, also if some die on the way.
//
// # Invariants
//
//   - A member writes its own lines only, but for the words that package cells lets others close.
//   - Nobody reads or writes outside of the memory, whatever is in it: lengths are read once, and
//     held against Room.
//   - Waiting and waking is the engine's: a Memory never blocks.
//
// # Limits
//
// Linux. The memory of n members is n·(Depth+1) lines and n·Depth·Room bytes; what isn't touched
// takes none.
package commons
