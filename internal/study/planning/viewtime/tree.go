package viewtime

// Levels is the height H of the tree of so many nodes, 1 for the root alone.
func Levels(nodes, arity int) int {
	levels := 0
	for first := 0; first < nodes; first = arity*first + 1 {
		levels++
	}
	return levels
}

// Widest is how many nodes the largest level below the root has.
func Widest(nodes, arity int) int {
	widest := 0
	for first := 1; first < nodes; first = arity*first + 1 {
		widest = max(widest, min(nodes, arity*first+1)-first)
	}
	return widest
}
