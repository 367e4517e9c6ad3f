package kb

// Config are the settings of the knowledge base tools. The tags are those that the command line reads. The model that makes
// vectors is that of the data tools: text-embedding-model-url and its name.
type Config struct {
	Tools string `name:"kb-tools" default:"auto" enum:"auto,always,never" env:"TOOLNORM_KB_TOOLS" help:"Offer the knowledge base tools (search, summary, OCR text): auto when there is a knowledge base or one of their settings, always, or never."`
}

// any says that something is set by which a tool would work without a knowledge base here.
// A name or a key reaches nothing by itself, so only what names a server counts.
func (c *Config) any() bool { return false }
