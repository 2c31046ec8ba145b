package replication

import "strings"

// printed is a row of the paper's tables 1 and 2: 256 ranks, two replicas each.
type printed struct {
	table              int
	name               string
	native, replicated float64 // seconds
	overhead           float64 // in percent, as printed
}

// paper are the rows of tables 1 and 2.
var paper = []printed{
	{1, "BT", 267.24, 271.21, 1.49},
	{1, "CG", 210.37, 220.71, 4.92},
	{1, "FT", 130.61, 134.58, 3.04},
	{1, "MG", 35.14, 36.04, 2.56},
	{1, "SP", 418.62, 428.70, 2.41},
	{2, "HPCCG", 91.13, 91.29, 0.002},
	{2, "CM1", 210.21, 216.80, 3.14},
}

// Of figure 7, as the text has them, and the ranks of the tables.
const (
	paperNative, paperReplicated = 1.67e-6, 2.37e-6 // of a message of one byte
	paperSmall                   = 100              // bytes, below which the overhead is noticeable:
	noticeable                   = 0.25             // more than this
	paperOverhead                = 0.05             // that of applications is less
	paperRanks                   = 256
)

// computed is the overhead by the printed times.
func (p *printed) computed() float64 { return p.replicated/p.native - 1 }

// printedRow returns the row of a name, nil if there is none.
func printedRow(name string) *printed {
	for i := range paper {
		if paper[i].name == name {
			return &paper[i]
		}
	}
	return nil
}

func printedNames() (names []string) {
	for _, p := range paper {
		names = append(names, p.name)
	}
	return names
}

// rowOf is the row of the tables that a program or a pattern belongs to by its name: bt.A.4 to
// BT, and so on. It is "" if there is none.
func rowOf(name string) string {
	words := strings.Fields(strings.ToLower(name))
	if len(words) == 0 || anySource(name) {
		return ""
	}
	switch base, _, _ := strings.Cut(words[0], "."); {
	case base == "bt" || base == "cg" || base == "ft" || base == "mg" || base == "sp":
		return strings.ToUpper(base)
	case base == "multigrid":
		return "MG"
	case base == "fft":
		return "FT"
	case strings.Contains(base, "hpccg") || base == "stencil-cg": // HPCCG is that
		return "HPCCG"
	case strings.HasPrefix(base, "cm1"):
		return "CM1"
	}
	return ""
}

// anySource tells whether a program of the project receives from any source.
func anySource(name string) bool { return strings.HasSuffix(name, ", any source") }

// own tells whether a program is one of the project's, which stands for one of the paper's.
func own(name string) bool { return name == "cg" || name == "multigrid" || anySource(name) }
