package pmi

import (
	"fmt"
	"strconv"
)

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

// Program is which of the job's programs this process runs, from 0. A launcher that doesn't know
// says -1.
func (c *Client) Program() (int, error) {
	answer, err := c.ask(newLine("get_appnum"), "appnum")
	if err != nil {
		return 0, err
	}
	text, _ := answer.get("appnum")
	program, err := strconv.Atoi(text)
	if err != nil {
		return 0, fmt.Errorf("pmi: appnum %q is no number", text)
	}
	return program, nil
}
