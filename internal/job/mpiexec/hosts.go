package mpiexec

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
)

// Slots counts the slots on this machine that a list of hosts names, such as "a,b:2". A host
// without a number has one slot. here is this machine's name. Slots refuses any other machine.
func Slots(list, here string) (int, error) {
	total := 0
	for _, word := range strings.Split(list, ",") {
		if word = strings.TrimSpace(word); word == "" {
			return 0, fmt.Errorf("the list of hosts %q has an empty name", list)
		}
		name, number := word, "1"
		if i := strings.LastIndexByte(word, ':'); i >= 0 && net.ParseIP(word) == nil {
			name, number = word[:i], word[i+1:]
		}
		n, err := slots(name, number, here)
		if err != nil {
			return 0, err
		}
		total += n
	}
	return total, nil
}

// FileSlots is Slots for a file with one host a line: "name", "name:4" or "name slots=4". A #
// begins a comment.
func FileSlots(r io.Reader, here string) (int, error) {
	total := 0
	lines := bufio.NewScanner(r)
	for at := 1; lines.Scan(); at++ {
		line, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		n, err := Slots(words[0], here)
		for _, word := range words[1:] {
			key, value, _ := strings.Cut(word, "=")
			if err == nil && key == "slots" {
				n, err = slots(words[0], value, here)
			}
		}
		if err != nil {
			return 0, fmt.Errorf("line %d: %w", at, err)
		}
		total += n
	}
	if err := lines.Err(); err != nil {
		return 0, err
	}
	if total == 0 {
		return 0, fmt.Errorf("it names no hosts")
	}
	return total, nil
}

func slots(name, number, here string) (int, error) {
	if !local(name, here) {
		return 0, fmt.Errorf("%q isn't this machine (%s), and banyan run starts processes here only: over several hosts, use srun, or the mpiexec of MPICH", name, here)
	}
	n, err := strconv.Atoi(number)
	if err != nil || n < 1 {
		return 0, fmt.Errorf("host %s with %q slots: want a number from 1", name, number)
	}
	return n, nil
}

// local says whether a name names this machine.
func local(name, here string) bool {
	if ip := net.ParseIP(strings.Trim(name, "[]")); ip != nil {
		return ip.IsLoopback()
	}
	short, _, _ := strings.Cut(here, ".")
	return name == "localhost" || name == here || name == short
}
