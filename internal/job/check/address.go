package check

import (
	"debug/dwarf"
	"debug/elf"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
)

// Address is a return address in an executable file or library.
type Address struct {
	File   string // its path
	Linked uint64 // the address that the linker assigned
}

func (a Address) String() string { return fmt.Sprintf("%s+%#x", a.File, a.Linked) }

// parseAddress reads what String writes.
func parseAddress(text string) (a Address, ok bool) {
	i := strings.LastIndex(text, "+0x")
	if i < 0 {
		return a, false
	}
	a.File = text[:i]
	var err error
	a.Linked, err = strconv.ParseUint(text[i+len("+0x"):], 16, 64)
	return a, err == nil
}

// sources turns addresses into lines of source files.
type sources struct {
	files map[string]*source
	known map[string]string // names found before, by address
}

// source is the debugging information of a file. Either part may be missing.
type source struct {
	lines   *dwarf.Data
	symbols []elf.Symbol
}

// name names a call site: heat.c:40, or main in heat if the file was compiled without -g. A text
// that isn't an address is returned unchanged.
func (s *sources) name(where string) string {
	a, ok := parseAddress(where)
	if !ok {
		return where
	}
	if s.known == nil {
		s.files, s.known = make(map[string]*source), make(map[string]string)
	}
	name, known := s.known[where]
	if !known {
		f, open := s.files[a.File]
		if !open {
			f = openSource(a.File)
			s.files[a.File] = f
		}
		name = f.name(a)
		s.known[where] = name
	}
	return name
}

func openSource(path string) *source {
	s := new(source)
	f, err := elf.Open(path)
	if err != nil {
		return s
	}
	defer f.Close()
	s.lines, _ = f.DWARF() // without it, the functions' names are used
	if s.symbols, err = f.Symbols(); err != nil {
		s.symbols, _ = f.DynamicSymbols()
	}
	return s
}

func (s *source) name(a Address) string {
	call := a.Linked - 1 // the return address follows the call
	if line := s.line(call); line != "" {
		return line
	}
	in := filepath.Base(a.File)
	for _, f := range s.symbols {
		if elf.ST_TYPE(f.Info) == elf.STT_FUNC && f.Value <= call && call < f.Value+f.Size {
			return fmt.Sprintf("%s in %s (-g when compiling gives lines)", f.Name, in)
		}
	}
	return Address{in, a.Linked}.String()
}

// line is the source line of an address, "" if it is unknown.
func (s *source) line(address uint64) string {
	if s.lines == nil {
		return ""
	}
	unit, err := s.lines.Reader().SeekPC(address)
	if err != nil {
		return ""
	}
	table, err := s.lines.LineReader(unit)
	if err != nil || table == nil {
		return ""
	}
	var e dwarf.LineEntry
	if table.SeekPC(address, &e) != nil || e.File == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d", filepath.Base(e.File.Name), e.Line)
}
