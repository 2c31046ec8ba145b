package serve

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"strconv"
)

// Settings say how agents of other hosts show a job, and the launcher that goes on with it: as the
// first launcher does, with its token and its certificate. They are a secret.
type Settings struct {
	// Network is tcp or unix; empty: the job is shown nowhere, and agents only know how it is.
	Network     string
	Address     string // of the first launcher, with the port that it has
	Secure      bool
	Token       string
	Certificate *certificate `json:",omitempty"`
	// Control lets those who watch have something done.
	Control bool
	// Number and Name are those of the host, numbers from 1 on.
	Number int
	Name   string
}

// Settings are those by which others show the job as this Server does.
func (s *Server) Settings() Settings {
	x := Settings{Network: s.address.network, Address: s.address.address, Secure: s.address.secure, Token: s.token, Certificate: s.at.certificate}
	if x.Token == "" {
		x.Token = NoToken
	}
	if host, _, err := net.SplitHostPort(x.Address); err == nil {
		_, port, _ := net.SplitHostPort(s.at.Addr().String())
		x.Address = net.JoinHostPort(host, port)
	}
	return x
}

// On are the settings for a host.
func (x Settings) On(number int, name string) Settings {
	x.Number, x.Name = number, name
	return x
}

// Encode writes settings.
func (x Settings) Encode() []byte {
	text, err := json.Marshal(x)
	if err != nil {
		panic("serve: " + err.Error()) // all of it can be written
	}
	return text
}

// DecodeSettings reads them.
func DecodeSettings(text []byte) (x Settings, err error) {
	if err := json.Unmarshal(text, &x); err != nil {
		return x, fmt.Errorf("how to show the job: %w", err)
	}
	return x, nil
}

// addresses are where a host shows the job, the first that is free. here is the address by which
// the host reaches the launcher. At loopback each host has another port, so that ssh can bring all
// of them to one machine.
func (x Settings) addresses(here string) []Address {
	if x.Network == "unix" {
		return []Address{{network: x.Network, address: x.Address}, {network: x.Network, address: fmt.Sprintf("%s.%d", x.Address, x.Number)}}
	}
	host, text, _ := net.SplitHostPort(x.Address)
	port, _ := strconv.Atoi(text)
	if ip := net.ParseIP(host); x.Secure && (ip == nil || !ip.IsUnspecified()) {
		host = here
	}
	if !x.Secure {
		port += x.Number
	}
	all := []Address{{network: x.Network, address: net.JoinHostPort(host, "0"), secure: x.Secure, name: x.Name}}
	if port > 0 && port < 1<<16 {
		first := all[0]
		first.address = net.JoinHostPort(host, strconv.Itoa(port))
		all = append([]Address{first}, all...)
	}
	return all
}

// Listen begins to show a job on another host than the first launcher's. It is nil if the job is
// shown nowhere.
func (x Settings) Listen(h *Hub, here string, metrics http.Handler) (s *Server, err error) {
	if x.Network == "" {
		return nil, nil
	}
	for _, a := range x.addresses(here) {
		if s, err = serveAt(h, a, x.Token, x.Certificate, metrics); err == nil {
			return s, nil
		}
	}
	return nil, err
}
