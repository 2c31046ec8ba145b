package main

// void banyan_at_exit(int);
import "C"

// atExit has banyan_exits called when the program exits, or not.
func atExit(leaves bool) {
	now := C.int(0)
	if leaves {
		now = 1
	}
	C.banyan_at_exit(now)
}

//export banyan_exits
func banyan_exits() { process.Exits() }
