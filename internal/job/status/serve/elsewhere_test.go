package serve

import (
	"crypto/tls"
	"crypto/x509"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Other hosts show the job by the first one's settings: at loopback each at a port of its own, at
// all addresses at the same port, at one address at that by which they reach the launcher.
func TestAddressesElsewhere(t *testing.T) {
	for _, tc := range []struct {
		settings Settings
		want     []string
	}{
		{Settings{Network: "tcp", Address: "127.0.0.1:8080", Number: 3}, []string{"127.0.0.1:8083", "127.0.0.1:0"}},
		{Settings{Network: "tcp", Address: "127.0.0.1:65535", Number: 1}, []string{"127.0.0.1:0"}},
		{Settings{Network: "tcp", Address: "0.0.0.0:8080", Secure: true, Number: 3}, []string{"0.0.0.0:8080", "0.0.0.0:0"}},
		{Settings{Network: "tcp", Address: "[::]:8080", Secure: true, Number: 3}, []string{"[::]:8080", "[::]:0"}},
		{Settings{Network: "tcp", Address: "10.0.0.1:8080", Secure: true, Number: 3}, []string{"10.0.0.7:8080", "10.0.0.7:0"}},
		{Settings{Network: "tcp", Address: "login:8080", Secure: true, Number: 3}, []string{"10.0.0.7:8080", "10.0.0.7:0"}},
		{Settings{Network: "unix", Address: "/tmp/s", Number: 3}, []string{"/tmp/s", "/tmp/s.3"}},
	} {
		var got []string
		for _, a := range tc.settings.addresses("10.0.0.7") {
			got = append(got, a.address)
			if a.secure != tc.settings.Secure || a.network != tc.settings.Network {
				t.Errorf("%+v: %+v", tc.settings, a)
			}
		}
		if !slices.Equal(got, tc.want) {
			t.Errorf("%+v: %v, want %v", tc.settings, got, tc.want)
		}
	}
}

// elsewhere shows what h knows on another host.
func elsewhere(t *testing.T, first *Server, h *Hub) *Server {
	t.Helper()
	settings, err := DecodeSettings(first.Settings().On(1, "localhost").Encode())
	if err != nil {
		t.Fatal(err)
	}
	s, err := settings.Listen(h, "127.0.0.1", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.Close)
	return s
}

// The token of the first page is that of all, and none of them answers without.
func TestTokenElsewhere(t *testing.T) {
	h, _ := observed("x")
	first := listen(t, h, "127.0.0.1:0", "")
	other := elsewhere(t, first, h)
	if other.Address() == first.Address() {
		t.Fatal("it is the same page")
	}
	if code, _, _ := get(t, http.DefaultClient, other.Address()+"api/state"); code != http.StatusForbidden {
		t.Errorf("without the token: %d", code)
	}
	if code, _, _ := get(t, http.DefaultClient, other.Address()+"api/state", "Authorization", "Bearer "+first.token); code != http.StatusOK {
		t.Errorf("with the first page's token: %d", code)
	}
	free := listen(t, h, "127.0.0.1:0", NoToken)
	if code, _, _ := get(t, http.DefaultClient, elsewhere(t, free, h).Address()+"api/state"); code != http.StatusOK {
		t.Errorf("a job without a token: %d", code)
	}
}

// Beyond loopback all pages have one certificate.
func TestCertificateElsewhere(t *testing.T) {
	h, _ := observed("x")
	first := listen(t, h, "0.0.0.0:0", "")
	other := elsewhere(t, first, h)
	if first.Fingerprint() == "" || other.Fingerprint() != first.Fingerprint() {
		t.Errorf("fingerprints %s and %s", first.Fingerprint(), other.Fingerprint())
	}
	if !strings.HasPrefix(other.Address(), "https://localhost:") {
		t.Errorf("it is at %s", other.Address())
	}
	c := &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true,
		VerifyPeerCertificate: func(raw [][]byte, _ [][]*x509.Certificate) error { return nil }}}}
	_, port, _ := net.SplitHostPort(other.at.Addr().String())
	base := "https://127.0.0.1:" + port + "/api/state"
	if code, _, _ := get(t, c, base); code != http.StatusForbidden {
		t.Errorf("without the token: %d", code)
	}
	if code, _, _ := get(t, c, base, "Authorization", "Bearer "+first.token); code != http.StatusOK {
		t.Errorf("with the token: %d", code)
	}
}

// A socket's name on a host that has one already gets a number.
func TestSocketElsewhere(t *testing.T) {
	dir, err := os.MkdirTemp("", "s")
	if err != nil {
		t.Fatal(err)
	}
	defer os.RemoveAll(dir)
	h, _ := observed("x")
	first := listen(t, h, "unix:"+filepath.Join(dir, "s"), "")
	if other := elsewhere(t, first, h); other.Address() != first.Address()+".1" {
		t.Errorf("it is at %s", other.Address())
	}
}

// A job that is shown nowhere is known to its agents all the same.
func TestNowhere(t *testing.T) {
	if s, err := (Settings{}).Listen(NewHub(""), "", nil); s != nil || err != nil {
		t.Errorf("%v %v", s, err)
	}
	if _, err := DecodeSettings([]byte("{")); err == nil {
		t.Error("settings that are cut off are taken")
	}
}
