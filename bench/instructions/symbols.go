package instructions

import (
	"bufio"
	"cmp"
	"debug/elf"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// maps is the files that a process has mapped to execute.
type maps []mapping

type mapping struct {
	start, end, offset uint64
	file               string
}

func readMaps(pid int) (maps, error) {
	f, err := os.Open(fmt.Sprintf("/proc/%d/maps", pid))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	var m maps
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		var x mapping
		var mode, device, inode string
		n, _ := fmt.Sscanf(lines.Text(), "%x-%x %s %x %s %s %s", &x.start, &x.end, &mode, &x.offset, &device, &inode, &x.file)
		if n >= 6 && strings.Contains(mode, "x") {
			m = append(m, x)
		}
	}
	return m, lines.Err()
}

// Symbols names addresses of a process.
type Symbols struct {
	maps  maps
	files map[string][]symbol // by file, sorted by offset in it
}

type symbol struct {
	offset uint64 // in the file
	name   string
}

// Name returns the function that an address belongs to, or the file if that has no symbols.
func (s *Symbols) Name(address uint64) string {
	i, found := slices.BinarySearchFunc(s.maps, address, func(m mapping, a uint64) int { return cmp.Compare(m.start, a) })
	if !found {
		i--
	}
	if i < 0 || address >= s.maps[i].end {
		return "?"
	}
	m := s.maps[i]
	table, ok := s.files[m.file]
	if !ok {
		table = readSymbols(m.file)
		s.files[m.file] = table
	}
	offset := address - m.start + m.offset
	k, found := slices.BinarySearchFunc(table, offset, func(x symbol, o uint64) int { return cmp.Compare(x.offset, o) })
	if !found {
		k--
	}
	if k < 0 {
		return cmp.Or(filepath.Base(m.file), "?")
	}
	return table[k].name
}

// readSymbols returns nothing for a file that it can't read: names only help the reader.
func readSymbols(file string) []symbol {
	f, err := elf.Open(file)
	if err != nil {
		return nil
	}
	defer f.Close()
	all, _ := f.Symbols()
	dynamic, _ := f.DynamicSymbols()
	var table []symbol
	for _, s := range append(all, dynamic...) {
		if kind := elf.ST_TYPE(s.Info); s.Value == 0 || kind != elf.STT_FUNC && kind != elf.STT_NOTYPE {
			continue
		}
		for _, p := range f.Progs {
			if p.Type == elf.PT_LOAD && s.Value >= p.Vaddr && s.Value < p.Vaddr+p.Filesz {
				table = append(table, symbol{s.Value - p.Vaddr + p.Off, s.Name})
				break
			}
		}
	}
	slices.SortStableFunc(table, func(a, b symbol) int { return cmp.Compare(a.offset, b.offset) })
	return table
}
