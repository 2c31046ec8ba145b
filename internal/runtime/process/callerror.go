package process

// CallError is an error that can't be understood without the program's call that it ends.
type CallError interface {
	error
	// Place is where in the program the call is; "" if that is unknown. The binding fills it
	// in.
	Place() *string
	// EndsJob tells whether no replica may go on after it: the replicas may have diverged.
	EndsJob() bool
}

// calledAt is how such an error says its place.
func calledAt(where string) string {
	if where == "" {
		return ""
	}
	return " (called at " + where + ")"
}

// Place implements CallError.
func (e *FinishedError) Place() *string { return &e.Where }

// EndsJob implements CallError.
func (e *FinishedError) EndsJob() bool { return e.Replicated }

// Place implements CallError.
func (e *OrderError) Place() *string { return &e.Where }

// EndsJob implements CallError.
func (e *OrderError) EndsJob() bool { return true }

// Place implements CallError.
func (e *UnorderedError) Place() *string { return &e.Where }

// EndsJob implements CallError.
func (e *UnorderedError) EndsJob() bool { return true }
