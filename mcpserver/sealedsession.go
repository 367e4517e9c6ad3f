package mcpserver

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"
)

// sealedSession is what a session id of Streamable HTTP says. It is signed and not secret.
type sealedSession struct {
	Version   string `json:"v"`
	Client    string `json:"n,omitempty"`
	Release   string `json:"r,omitempty"`
	Can       string `json:"c,omitempty"` // a letter for each of roots, sampling, elicitation, tasks
	Principal string `json:"p,omitempty"` // a digest
	Since     int64  `json:"t"`           // Unix seconds
	Nonce     string `json:"x"`
}

// sessionLife is how long a session id is good. Its client initialises again after that.
const sessionLife = 30 * 24 * time.Hour

// mint makes the id of a session that has begun.
func (s seal) mint(of *session) string {
	var nonce [16]byte
	rand.Read(nonce[:]) // never fails
	return s.close("session", sealedSession{
		Version: of.version, Client: cut(of.client.Name), Release: cut(of.client.Version), Can: letters(of.can),
		Principal: digest(of.principal), Since: time.Now().Unix(), Nonce: hex.EncodeToString(nonce[:]),
	})
}

// read makes the session of an id. It is not ok when the id is not ours, too old, or another principal's.
func (s seal) read(id, principal string) (*session, bool) {
	var said sealedSession
	if s.open("session", id, &said) != nil || said.Principal != digest(principal) || time.Since(time.Unix(said.Since, 0)) > sessionLife {
		return nil, false
	}
	return &session{
		id: id, principal: principal, version: said.Version, level: defaultLevel,
		client: mcp.Implementation{Name: said.Client, Version: said.Release}, can: abilities(said.Can),
	}, true
}

// cut keeps an id short whatever a client calls itself.
func cut(name string) string { return name[:min(len(name), 64)] }

// digest stands for a principal where everybody can read.
func digest(principal string) string {
	if principal == "" {
		return ""
	}
	sum := sha256.Sum256([]byte(principal))
	return hex.EncodeToString(sum[:8])
}

// letters are a client's capabilities in short.
func letters(c mcp.ClientCapabilities) (all string) {
	if c.Roots != nil {
		all += "r"
	}
	if c.Sampling != nil {
		all += "s"
	}
	if c.Elicitation != nil {
		all += "e"
	}
	if c.Tasks != nil {
		all += "t"
	}
	return all
}

// abilities are the capabilities that letters stand for.
func abilities(all string) (c mcp.ClientCapabilities) {
	if strings.Contains(all, "r") {
		c.Roots = &struct {
			ListChanged bool `json:"listChanged,omitempty"`
		}{}
	}
	if strings.Contains(all, "s") {
		c.Sampling = &mcp.SamplingCapability{}
	}
	if strings.Contains(all, "e") {
		c.Elicitation = &mcp.ElicitationCapability{}
	}
	if strings.Contains(all, "t") {
		c.Tasks = &mcp.TasksCapability{}
	}
	return c
}
