package rollback

import (
	"fmt"
	"strings"

	"banyan/internal/proto"
)

// What a Coordinator calls processes, for the user.

// late are those of which something is awaited, in words.
func (c *Coordinator) late() string {
	var late []string
	for i := range c.members {
		if m := &c.members[i]; m.alive && !m.said {
			late = append(late, c.name(proto.Proc(i)))
		}
	}
	return listed(late)
}

// name names a process for the user.
func (c *Coordinator) name(p proto.Proc) string {
	r := c.layout.Rank(p)
	if c.layout.Degree(r) == 1 {
		return r.String()
	}
	return fmt.Sprintf("%v replica %d", r, c.layout.Replica(p))
}

// listed are the first of some names.
func listed(names []string) string {
	const most = 3
	if len(names) > most {
		return fmt.Sprintf("%s and %d others", strings.Join(names[:most], ", "), len(names)-most)
	}
	return strings.Join(names, ", ")
}
