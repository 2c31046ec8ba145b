package main

// void banyan_at_exit(void);
import "C"

// atExit has banyan_exits called when the program exits.
func atExit() { C.banyan_at_exit() }

//export banyan_exits
func banyan_exits() { process.Exits() }
