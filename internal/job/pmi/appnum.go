package pmi

import "strconv"

// SetPrograms says that the job has several programs: of(rank) is which of them a process runs,
// from 0. It must be called before the first Serve.
func (s *Server) SetPrograms(of func(rank int) int) { s.program = of }

// appnum is the answer to the question which program a process runs.
func (s *Server) appnum(rank int) line {
	program := 0
	if s.program != nil {
		program = s.program(rank)
	}
	return newLine("appnum", "appnum", strconv.Itoa(program))
}
