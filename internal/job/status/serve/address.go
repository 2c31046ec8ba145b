package serve

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"fmt"
	"math/big"
	"net"
	"os"
	"strings"
	"time"
)

// Address is where a job is watched.
type Address struct {
	network, address string
	secure           bool   // TLS
	name             string // of the host; empty: what it calls itself
}

// ParseAddress reads an address: :PORT at loopback, HOST:PORT, or unix:PATH.
func ParseAddress(text string) (a Address, err error) {
	if path, is := strings.CutPrefix(text, "unix:"); is {
		if path == "" {
			return a, errors.New(`"unix:" lacks the path of the socket: want unix:PATH`)
		}
		return Address{network: "unix", address: path}, nil
	}
	host, port, err := net.SplitHostPort(text)
	if err != nil || port == "" {
		return a, fmt.Errorf("%q is no address: want :PORT (of this machine only), HOST:PORT or unix:PATH", text)
	}
	if _, err := net.LookupPort("tcp", port); err != nil {
		return a, fmt.Errorf("%q: the port is a number from 0 (any) to 65535", text)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	ip := net.ParseIP(host)
	return Address{network: "tcp", address: net.JoinHostPort(host, port), secure: host != "localhost" && (ip == nil || !ip.IsLoopback())}, nil
}

// listener listens at an address.
type listener struct {
	net.Listener
	url         string       // without the token; empty: a unix socket
	certificate *certificate // nil: none
}

// listen opens an address. A socket that nobody answers is replaced. With TLS the certificate is
// given, or made.
func (a Address) listen(c *certificate) (*listener, error) {
	if a.network == "unix" {
		if conn, err := net.DialTimeout("unix", a.address, time.Second); err == nil {
			conn.Close()
			return nil, fmt.Errorf("something answers at %s already", a.address)
		}
		if info, err := os.Lstat(a.address); err == nil && info.Mode()&os.ModeSocket != 0 {
			os.Remove(a.address)
		}
	}
	l, err := net.Listen(a.network, a.address)
	if err != nil {
		return nil, err
	}
	if a.network == "unix" {
		if err := os.Chmod(a.address, 0o600); err != nil {
			l.Close()
			return nil, err
		}
		return &listener{Listener: l}, nil
	}
	if !a.secure {
		return &listener{Listener: l, url: "http://" + l.Addr().String() + "/"}, nil
	}
	if c == nil {
		if c, err = selfSigned(a.address); err != nil {
			l.Close()
			return nil, err
		}
	}
	parsed, err := c.parse()
	if err != nil {
		l.Close()
		return nil, err
	}
	host, _, _ := net.SplitHostPort(a.address)
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		if host = a.name; host == "" {
			if host, err = os.Hostname(); err != nil {
				l.Close()
				return nil, err
			}
		}
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	config := &tls.Config{Certificates: []tls.Certificate{parsed}, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2", "http/1.1"}}
	return &listener{tls.NewListener(l, config), "https://" + net.JoinHostPort(host, port) + "/", c}, nil
}

// certificate is what a job shows itself with beyond loopback: DER, and the secret key as PKCS #8.
type certificate struct{ Certificate, Key []byte }

// parse makes it what TLS wants.
func (c *certificate) parse() (t tls.Certificate, err error) {
	t.Certificate = [][]byte{c.Certificate}
	t.PrivateKey, err = x509.ParsePKCS8PrivateKey(c.Key)
	return t, err
}

// fingerprint is the SHA-256 of the certificate in hexadecimal.
func (c *certificate) fingerprint() string {
	sum := sha256.Sum256(c.Certificate)
	return hex.EncodeToString(sum[:])
}

// selfSigned makes a certificate for an address that nobody signs.
func selfSigned(address string) (*certificate, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return nil, err
	}
	now := time.Now()
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: "banyan job"}, NotBefore: now.Add(-time.Hour), NotAfter: now.AddDate(1, 0, 0),
		KeyUsage: x509.KeyUsageDigitalSignature, ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}, BasicConstraintsValid: true,
	}
	host, _, _ := net.SplitHostPort(address)
	if ip := net.ParseIP(host); ip == nil {
		template.DNSNames = append(template.DNSNames, host)
	} else if !ip.IsUnspecified() {
		template.IPAddresses = append(template.IPAddresses, ip)
	}
	if name, err := os.Hostname(); err == nil {
		template.DNSNames = append(template.DNSNames, name)
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		return nil, err
	}
	secret, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return nil, err
	}
	return &certificate{der, secret}, nil
}
