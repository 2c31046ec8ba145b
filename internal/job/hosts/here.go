package hosts

import (
	"context"
	"net"
	"net/netip"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Here knows this machine by its names and addresses.
type Here struct {
	Name      string // what it calls itself
	addresses []netip.Addr
	look      func(ctx context.Context, name string) ([]netip.Addr, error)
}

// lookLimit bounds the wait for a name service.
const lookLimit = 3 * time.Second

// FindHere asks this machine.
func FindHere() (Here, error) {
	name, err := os.Hostname()
	if err != nil {
		return Here{}, err
	}
	h := Here{Name: name, look: func(ctx context.Context, name string) ([]netip.Addr, error) {
		return net.DefaultResolver.LookupNetIP(ctx, "ip", name)
	}}
	all, err := net.InterfaceAddrs()
	if err != nil {
		return Here{}, err
	}
	for _, a := range all {
		if p, err := netip.ParsePrefix(a.String()); err == nil {
			h.addresses = append(h.addresses, p.Addr().Unmap())
		}
	}
	return h, nil
}

// Addresses are this machine's addresses that other machines may reach, those of IPv4 first. A
// link's own addresses (fe80::1) aren't among them, because they mean nothing elsewhere.
func (h Here) Addresses() []netip.Addr {
	var all []netip.Addr
	for _, a := range h.addresses {
		if !a.IsLoopback() && !a.IsLinkLocalUnicast() && !a.IsMulticast() {
			all = append(all, a)
		}
	}
	slices.SortStableFunc(all, func(a, b netip.Addr) int { return a.BitLen() - b.BitLen() })
	return all
}

// Is says whether a name names this machine.
func (h Here) Is(name string) bool {
	if a, err := netip.ParseAddr(name); err == nil {
		return h.has(a)
	}
	short, _, _ := strings.Cut(h.Name, ".")
	if name == "localhost" || strings.EqualFold(name, h.Name) || strings.EqualFold(name, short) {
		return true
	}
	ctx, cancel := context.WithTimeout(context.Background(), lookLimit)
	defer cancel()
	found, err := h.look(ctx, name)
	return err == nil && slices.ContainsFunc(found, h.has)
}

func (h Here) has(a netip.Addr) bool {
	return a.IsLoopback() || slices.Contains(h.addresses, a.Unmap().WithZone(""))
}

// Find finds this machine in a list. All entries that name it become one. at is the entry's place,
// -1 if there is none.
func (h Here) Find(list List) (found List, at int, err error) {
	is := make([]bool, len(list))
	var wait sync.WaitGroup
	lookups := make(chan struct{}, 64)
	for i, entry := range list {
		wait.Add(1)
		go func() {
			defer wait.Done()
			lookups <- struct{}{}
			defer func() { <-lookups }()
			is[i] = h.Is(entry.Name)
		}()
	}
	wait.Wait()
	at = slices.Index(is, true)
	if at < 0 {
		return list, -1, nil
	}
	found = slices.Clone(list)
	for i := range found {
		if is[i] {
			found[i].Name = list[at].Name
		}
	}
	found, err = merge(found)
	return found, found.Index(list[at].Name), err
}
