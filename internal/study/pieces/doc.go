// Package pieces keeps the results of a long computation as it goes, so that it can be stopped at
// any moment, also by a kill or a loss of power, and goes on later where it was.
//
// A computation has steps, a step has items, numbered from 0. [Each] computes the items of a step
// that aren't kept yet. What was finished since the last time is written every few seconds as one
// piece: a file under another name, synced, then moved into place, so that it is there whole or not
// at all. When a step is complete its pieces are merged into one file.
//
// # Invariants
//
// A [Store] has a digest of all that determines the results: settings, what is computed, and a
// fingerprint of the code's outcomes. A directory with another digest is refused. So results of
// different computations, or of different code, are never mixed.
//
// Items come back in the order of their numbers, whenever and by whichever worker they were
// computed: what is made of them doesn't depend on how often the computation was stopped. The
// file of a complete step is the same, byte for byte, too.
//
// A piece that can't be read is taken for one that isn't there: its items are computed again.
//
// # Limits
//
// An item can't be cut: a kill loses what the workers have computed of theirs, and what was
// finished in the last [Interval]. Items are kept as JSON, compressed: they want exported fields,
// without NaN. All items of a step are in memory. One process at a time uses a directory, which a
// lock ensures.
package pieces
