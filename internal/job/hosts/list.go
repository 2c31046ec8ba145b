package hosts

import (
	"fmt"
	"strings"
)

// ParseList reads a list such as "a:8,b:8" or "a,b". A host that is named twice has the slots of
// both. If any host has a number, those without have one slot.
func ParseList(text string) (List, error) {
	var entries List
	for word := range strings.SplitSeq(text, ",") {
		if word = strings.TrimSpace(word); word == "" {
			return nil, fmt.Errorf("the list of hosts %q has an empty name", text)
		}
		h, err := entry(word)
		if err != nil {
			return nil, err
		}
		entries = append(entries, h)
	}
	return merge(entries)
}
