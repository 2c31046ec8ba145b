package console

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Spawned describes a job that a job has spawned, or that such a job has.
type Spawned struct {
	Number    string    `json:"number"` // "2" is the second one; "2.1" the first that it has spawned
	Command   []string  `json:"command"`
	Begun     time.Time `json:"begun"`
	State     string    `json:"state"`     // Running or Ending
	Processes int       `json:"processes"` // that run
	Hosts     int       `json:"hosts"`     // that aren't lost
}

// SetSpawned notes what a spawned job is now. Lists that were told before stay as they were.
func (i *Info) SetSpawned(s Spawned) {
	i.DropSpawned(s.Number)
	at, _ := slices.BinarySearchFunc(i.Spawned, s.Number, func(other Spawned, number string) int {
		return compareNumbers(other.Number, number)
	})
	i.Spawned = slices.Insert(i.Spawned, at, s)
}

// DropSpawned forgets a spawned job that has ended.
func (i *Info) DropSpawned(number string) {
	i.Spawned = slices.DeleteFunc(slices.Clone(i.Spawned), func(s Spawned) bool { return s.Number == number })
}

// Each visits the description of a job, and then those of the jobs that it has spawned, as if they
// were jobs of their own: "NAME/1" and so on.
func (i *Info) Each(visit func(*Info)) {
	visit(i)
	for _, s := range i.Spawned {
		x := *i
		x.Name, x.Command, x.Begun, x.State = i.Name+"/"+s.Number, s.Command, s.Begun, s.State
		x.Processes, x.Hosts, x.Spawned = s.Processes, s.Hosts, nil
		visit(&x)
	}
}

// compareNumbers puts what a job has spawned behind it: 1, 1.1, 1.2, 2, 10.
func compareNumbers(a, b string) int {
	return slices.CompareFunc(strings.Split(a, "."), strings.Split(b, "."), func(a, b string) int {
		x, _ := strconv.Atoi(a)
		y, _ := strconv.Atoi(b)
		return cmp.Compare(x, y)
	})
}
