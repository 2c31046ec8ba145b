package tool

// Categories.
const (
	Messages    = "messages"
	Failures    = "failures"
	Detection   = "detection"
	Replication = "replication"
	Transport   = "transport"
)

// Category is a set of variables and events. Members are their indices.
type Category struct {
	Name, Description             string
	Controls, Performance, Events []int32
}

// categories sorts all that there is.
func (t *Interface) categories() []Category {
	all := []Category{
		{Name: Messages, Description: "messages, and what waits for them"},
		{Name: Failures, Description: "deaths, and how the job goes on after them"},
		{Name: Detection, Description: "how deaths are noticed"},
		{Name: Replication, Description: "replicas of ranks"},
		{Name: Transport, Description: "how messages travel"},
	}
	of := func(name string) *Category {
		for i := range all {
			if all[i].Name == name {
				return &all[i]
			}
		}
		panic("tool: there is no category " + name)
	}
	for i, c := range t.Controls {
		k := of(c.Category)
		k.Controls = append(k.Controls, int32(i))
	}
	for i, v := range t.Performance {
		k := of(v.Category)
		k.Performance = append(k.Performance, int32(i))
	}
	for i, e := range t.Events {
		k := of(e.Category)
		k.Events = append(k.Events, int32(i))
	}
	return all
}
