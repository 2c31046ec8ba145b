package explore

import "os"

// Long tells whether tests should visit all that they can, which takes up to hours, instead of what
// fits into a few seconds: it is true if BANYAN_EXPLORE is long. "make soak" sets it.
//
// A test that asks must still catch its canaries without it.
func Long() bool { return os.Getenv("BANYAN_EXPLORE") == "long" }
