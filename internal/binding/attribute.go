package binding

type attributes struct{}

type keyvals struct{}
