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
	readable func(symbol string) string // the name of a function for people; nil: the symbol
	files    map[string]*source
	known    map[string]string // names found before, by address
}

// Line is the source line of an address, or what is known instead.
func Line(a Address) string { return new(sources).name(a.String()) }

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
		name = f.name(a, s.readable)
		s.known[where] = name
	}
	return name
}

// layouts are the structs of the file in which an address is.
func (s *sources) layouts(where string) []layout {
	a, ok := parseAddress(where)
	if !ok {
		return nil
	}
	s.name(where)
	if f := s.files[a.File]; f != nil && f.lines != nil {
		return layouts(f.lines)
	}
	return nil
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

func (s *source) name(a Address, readable func(symbol string) string) string {
	call := a.Linked - 1 // the return address follows the call
	line, compiled := s.line(call)
	if line != "" {
		return line
	}
	in := filepath.Base(a.File)
	for _, f := range s.symbols {
		if elf.ST_TYPE(f.Info) != elf.STT_FUNC || call < f.Value || call >= f.Value+f.Size {
			continue
		}
		name := f.Name
		if readable != nil {
			name = readable(name)
		}
		name += " in " + in
		if !compiled {
			name += " (-g when compiling gives lines)"
		}
		return name
	}
	return Address{in, a.Linked}.String()
}

// line is the source line of an address, "" if it is unknown. with says whether the code there was
// compiled with lines.
func (s *source) line(address uint64) (line string, with bool) {
	if s.lines == nil {
		return "", false
	}
	unit, err := s.lines.Reader().SeekPC(address)
	if err != nil {
		return "", false
	}
	table, err := s.lines.LineReader(unit)
	if err != nil || table == nil {
		return "", false
	}
	e, ok := entryOf(table, address)
	if !ok {
		return "", true
	}
	return fmt.Sprintf("%s:%d", filepath.Base(e.File.Name), e.Line), true
}

// entryOf finds the entry of an address. The table has a sequence of entries for each section of
// the unit's code, in any order: main is in a section of its own (.text.startup) when the compiler
// optimises. (LineReader.SeekPC gives up at the first sequence that begins above the address.)
func entryOf(table *dwarf.LineReader, address uint64) (found dwarf.LineEntry, ok bool) {
	var before, e dwarf.LineEntry
	inside := false // of a sequence: before is an entry of it
	for table.Next(&e) == nil {
		if inside && before.Address <= address && address < e.Address && before.File != nil && before.Line > 0 {
			return before, true
		}
		before, inside = e, !e.EndSequence
	}
	return found, false
}
