package instructions

// Calls is what [Whole] counts: instructions, and the calls of a function among them.
type Calls struct{ Instructions, Calls int }
