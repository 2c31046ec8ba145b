package binding

// group is a group.
type group struct{}
