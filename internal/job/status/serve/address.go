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
	secure           bool // TLS
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

// listener listens at an address. Fingerprint is that of its certificate, empty without TLS.
type listener struct {
	net.Listener
	url         string // without the token; empty: a unix socket
	fingerprint string
}

// listen opens an address. A socket that nobody answers is replaced.
func (a Address) listen() (*listener, error) {
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
	certificate, print, err := selfSigned(a.address)
	if err != nil {
		l.Close()
		return nil, err
	}
	host, _, _ := net.SplitHostPort(a.address)
	if ip := net.ParseIP(host); ip != nil && ip.IsUnspecified() {
		if host, err = os.Hostname(); err != nil {
			l.Close()
			return nil, err
		}
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	config := &tls.Config{Certificates: []tls.Certificate{certificate}, MinVersion: tls.VersionTLS13, NextProtos: []string{"h2", "http/1.1"}}
	return &listener{tls.NewListener(l, config), "https://" + net.JoinHostPort(host, port) + "/", print}, nil
}

// selfSigned makes a certificate for an address that nobody signs.
func selfSigned(address string) (c tls.Certificate, fingerprint string, err error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return c, "", err
	}
	serial, err := rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120))
	if err != nil {
		return c, "", err
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
		return c, "", err
	}
	sum := sha256.Sum256(der)
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}, hex.EncodeToString(sum[:]), nil
}
