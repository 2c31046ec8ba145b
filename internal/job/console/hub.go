package console

// Hub is what a launcher shows on its consoles.
type Hub struct{}

func (h *Hub) consoles() int                                 { return 0 }
func (h *Hub) attach(l *link, attachment []byte, job string) {}
