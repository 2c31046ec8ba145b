package binding

// info is an info object.
type info struct{}
