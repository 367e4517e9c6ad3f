package auth

import (
	"bytes"
	"cmp"
	"crypto"
	"crypto/ed25519"
	"crypto/rsa"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"strings"

	"github.com/golang-jwt/jwt/v5"
)

// verificationKey is the type of a public key in golang-jwt.
type verificationKey = jwt.VerificationKey

// minRSA is the length of the shortest accepted RSA key, in bits (RFC 7518, section 3.3).
const minRSA = 2048

// maxRSA is the length of the longest accepted RSA key, in bits, because every request takes the
// time of a verification, which grows with the square of the length.
const maxRSA = 8192

// publicKey is a key of an issuer.
type publicKey struct {
	id  string // empty: the key has no id and is tried for every token
	alg string // the only algorithm for which it may be used
	key crypto.PublicKey
}

// fits reports whether a token with that key id and algorithm may be signed with the key. A token
// without an id may be signed with any key of its algorithm.
func (p publicKey) fits(kid, alg string) bool {
	return p.alg == alg && (kid == "" || p.id == "" || p.id == kid)
}

// parsePublicKeys returns the keys of a JWKS (RFC 7517) or of a PEM file. Unusable keys are left
// out; it fails if none is left.
func parsePublicKeys(text []byte) ([]publicKey, error) {
	if block, _ := pem.Decode(text); block != nil {
		return parsePEM(text)
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if json.Unmarshal(bytes.TrimSpace(text), &set) != nil {
		return nil, errors.New("neither a JWKS nor a PEM file")
	}
	var all []publicKey
	for _, text := range set.Keys {
		// Sets also hold keys for other purposes and of other kinds; RFC 7517, section 5, says to
		// ignore them.
		var k jwk
		if json.Unmarshal(text, &k) != nil {
			continue
		}
		if key, err := k.public(); err == nil {
			all = append(all, key)
		}
	}
	if len(all) == 0 {
		return nil, errors.New("the JWKS holds no RSA or Ed25519 key for signatures")
	}
	return all, nil
}

// parsePEM returns the public keys of a PEM file, including those in certificates. Unusable ones
// are left out; it fails if none is left, or if the file contains a private key, which has no
// business here.
func parsePEM(text []byte) (all []publicKey, err error) {
	for {
		var block *pem.Block
		if block, text = pem.Decode(text); block == nil && len(all) > 0 {
			return all, nil
		}
		if block == nil {
			return nil, err
		}
		if strings.HasSuffix(block.Type, "PRIVATE KEY") {
			return nil, fmt.Errorf("the PEM file holds a %s; a public key is wanted", block.Type)
		}
		k, wrong := publicKeyIn(block)
		if wrong != nil {
			err = cmp.Or(err, wrong)
			continue
		}
		all = append(all, k)
	}
}

// publicKeyIn returns the key in a block of a PEM file. It fails if the block is not a public key
// or a certificate, or the key is not supported.
func publicKeyIn(block *pem.Block) (publicKey, error) {
	var key any
	var err error
	switch block.Type {
	case "PUBLIC KEY":
		key, err = x509.ParsePKIXPublicKey(block.Bytes)
	case "RSA PUBLIC KEY":
		key, err = x509.ParsePKCS1PublicKey(block.Bytes)
	case "CERTIFICATE":
		var cert *x509.Certificate
		if cert, err = x509.ParseCertificate(block.Bytes); err == nil {
			key = cert.PublicKey
		}
	default:
		err = fmt.Errorf("the PEM file holds a %s; a public key is wanted", block.Type)
	}
	if err != nil {
		return publicKey{}, err
	}
	return publicKeyOf("", key)
}

// publicKeyOf returns a key with the algorithm for which it may be used. It fails for a type or
// size of key that is not supported. The type of the key, and not the token, decides on the
// algorithm, so an RSA key cannot be used as an HMAC secret.
func publicKeyOf(id string, key any) (publicKey, error) {
	switch key := key.(type) {
	case *rsa.PublicKey:
		if n := key.N.BitLen(); n < minRSA || n > maxRSA {
			return publicKey{}, fmt.Errorf("an RSA key has %d bits, and must have %d to %d", n,
				minRSA, maxRSA)
		}
		return publicKey{id, rs256, key}, nil
	case ed25519.PublicKey:
		return publicKey{id, eddsa, key}, nil
	}
	return publicKey{}, fmt.Errorf("a key of type %T cannot be used; RSA and Ed25519 can", key)
}

// jwk is a key of a JWKS, with the members of RFC 7517, 7518 and 8037 that public RSA and Ed25519
// keys have. Symmetric keys ("oct") are not supported, because anybody can read the set.
type jwk struct {
	Type  string `json:"kty"`
	ID    string `json:"kid"`
	Use   string `json:"use"`
	Alg   string `json:"alg"`
	Curve string `json:"crv"`
	N     string `json:"n"`
	E     string `json:"e"`
	X     string `json:"x"`
}

// public returns the decoded key, or an error if it is malformed, unsupported or not for
// signatures.
func (k jwk) public() (key publicKey, err error) {
	if k.Use != "" && k.Use != "sig" {
		return key, errors.New("the key is for encryption")
	}
	switch {
	case k.Type == "RSA":
		// An exponent of more than four bytes is legal but never used; rsa.PublicKey keeps it as an
		// int.
		n, errN := base64.RawURLEncoding.DecodeString(k.N)
		e, errE := base64.RawURLEncoding.DecodeString(k.E)
		if errN != nil || errE != nil || len(e) == 0 || len(e) > 4 {
			return key, errors.New("not an RSA key")
		}
		key, err = publicKeyOf(k.ID, &rsa.PublicKey{N: new(big.Int).SetBytes(n),
			E: int(new(big.Int).SetBytes(e).Int64())})
	case k.Type == "OKP" && k.Curve == "Ed25519":
		x, errX := base64.RawURLEncoding.DecodeString(k.X)
		if errX != nil || len(x) != ed25519.PublicKeySize {
			return key, errors.New("not an Ed25519 key")
		}
		key, err = publicKeyOf(k.ID, ed25519.PublicKey(x))
	default:
		return key, fmt.Errorf("keys of type %s are not used", k.Type)
	}
	if err == nil && k.Alg != "" && k.Alg != key.alg {
		err = fmt.Errorf("the key is for %s", k.Alg)
	}
	return key, err
}
