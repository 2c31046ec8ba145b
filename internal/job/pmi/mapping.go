package pmi

import (
	"fmt"
	"strconv"
	"strings"
)

// mappingKey is the key with which launchers (Hydra, Slurm, Flux and this package's Server) say
// which processes run on which host. The value is a list of blocks,
//
//	(vector,(FIRST,HOSTS,PROCS),…)
//
// Each block has PROCS processes in a row on each of HOSTS hosts, which are numbered from FIRST
// on. The list is repeated until all processes have a host.
const mappingKey = "PMI_process_mapping"

// SetHosts says on which host each process runs. Without it they all share one. It must be called
// before the first process asks.
func (s *Server) SetHosts(hosts []int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if m := formatMapping(hosts); len(m) <= maxValue {
		s.space[mappingKey] = m
	} else {
		delete(s.space, mappingKey) // a server may say nothing
	}
}

// parseMapping returns the host of each of size processes.
func parseMapping(s string, size int) ([]int32, error) {
	rest, ok := strings.CutPrefix(s, "(vector")
	if !ok || !strings.HasSuffix(rest, ")") {
		return nil, fmt.Errorf("%.100q is no vector", s)
	}
	rest = strings.TrimSuffix(rest, ")")
	var blocks [][3]int32
	for rest != "" {
		block, more, ok := strings.Cut(strings.TrimPrefix(rest, ","), ")")
		fields := strings.Split(strings.TrimPrefix(block, "("), ",")
		if !ok || !strings.HasPrefix(rest, ",(") || len(fields) != 3 {
			return nil, fmt.Errorf("%.100q: a block isn't (first,hosts,processes)", s)
		}
		var b [3]int32
		for i, f := range fields {
			n, err := strconv.ParseUint(f, 10, 20) // up to a million hosts
			if err != nil || i > 0 && n == 0 {
				return nil, fmt.Errorf("%.100q: %q is no valid number", s, f)
			}
			b[i] = int32(n)
		}
		blocks = append(blocks, b)
		rest = more
	}
	if len(blocks) == 0 {
		return nil, fmt.Errorf("%.100q has no blocks", s)
	}
	hosts := make([]int32, 0, size)
	for {
		for _, b := range blocks {
			for h := range b[1] {
				for range b[2] {
					if len(hosts) == size {
						return hosts, nil
					}
					hosts = append(hosts, b[0]+h)
				}
			}
		}
	}
}

// formatMapping is the value for these hosts. parseMapping is its inverse.
func formatMapping(hosts []int32) string {
	var b strings.Builder
	b.WriteString("(vector")
	for i := 0; i < len(hosts); {
		first, procs := hosts[i], run(hosts[i:])
		n := int32(1)
		for i += procs; i < len(hosts) && hosts[i] == first+n && run(hosts[i:]) == procs; i += procs {
			n++
		}
		fmt.Fprintf(&b, ",(%d,%d,%d)", first, n, procs)
	}
	b.WriteByte(')')
	return b.String()
}

// run is how many processes at the beginning of the list are on the same host.
func run(hosts []int32) int {
	n := 1
	for n < len(hosts) && hosts[n] == hosts[0] {
		n++
	}
	return n
}
