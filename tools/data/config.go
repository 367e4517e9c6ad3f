package data

import (
	"time"

	"toolnorm/internal/embedding"
)

// Config are the settings of the data tools. The tags are those that the command line reads; the names in capitals without
// TOOLNORM_ are what the tools' specification calls them.
// A setting that is missing disables what needs it, and the result names it; nothing stops the program.
type Config struct {
	Tools string `name:"data-tools" default:"auto" enum:"auto,always,never" env:"TOOLNORM_DATA_TOOLS" help:"Offer the data tools (vectors, similarity search, SQL): auto when one of their settings is there or documents were imported, always, or never."`

	EmbeddingURL   string `name:"text-embedding-model-url" placeholder:"URL" env:"TOOLNORM_TEXT_EMBEDDING_MODEL_URL,TEXT_EMBEDDING_MODEL_URL" help:"The model that makes vectors of texts: the whole URL of an OpenAI-style /v1/embeddings, or of Ollama's /api/embed. Default: none; searches go by words."`
	EmbeddingModel string `name:"text-embedding-model-name" placeholder:"NAME" env:"TOOLNORM_TEXT_EMBEDDING_MODEL_NAME,TEXT_EMBEDDING_MODEL_NAME" help:"Its name, e.g. bge-m3."`
	EmbeddingKey   string `name:"text-embedding-model-key" placeholder:"KEY" env:"TOOLNORM_TEXT_EMBEDDING_MODEL_KEY" help:"The key that it asks for. Better in the environment."`

	ChromaHost       string `name:"chromadb-host" placeholder:"HOST" env:"TOOLNORM_CHROMADB_HOST,CHROMADB_HOST" help:"A Chroma server that holds the collection, by its name or as a URL. Default: the store of the tools holds it."`
	ChromaPort       int    `name:"chromadb-port" default:"8000" env:"TOOLNORM_CHROMADB_PORT,CHROMADB_PORT" help:"Its port."`
	ChromaCollection string `name:"chromadb-collection-name" placeholder:"NAME" env:"TOOLNORM_CHROMADB_COLLECTION_NAME,CHROMADB_COLLECTION_NAME" help:"The collection that is searched, there or in the store of the tools."`
	ChromaHeader     string `name:"chromadb-header" placeholder:"NAME: VALUE" env:"TOOLNORM_CHROMADB_HEADER" help:"A header that the server asks for. Better in the environment."`

	PostgresHost string `name:"postgresql-db-host" placeholder:"HOST" env:"TOOLNORM_POSTGRESQL_DB_HOST,POSTGRESQL_DB_HOST" help:"The PostgreSQL that execute_postgres_query asks. Default: none."`
	PostgresPort int    `name:"postgresql-db-port" default:"5432" env:"TOOLNORM_POSTGRESQL_DB_PORT,POSTGRESQL_DB_PORT" help:"Its port."`
	PostgresName string `name:"postgresql-db-name" placeholder:"NAME" env:"TOOLNORM_POSTGRESQL_DB_NAME,POSTGRESQL_DB_NAME" help:"Its database."`
	PostgresUser string `name:"postgresql-db-user" placeholder:"NAME" env:"TOOLNORM_POSTGRESQL_DB_USER,POSTGRESQL_DB_USER" help:"The role that asks, which may SELECT and nothing else."`
	PostgresPass string `name:"postgresql-db-pass" placeholder:"PASSWORD" env:"TOOLNORM_POSTGRESQL_DB_PASS,POSTGRESQL_DB_PASS" help:"Its password. Better in the environment."`

	SQLRole      string        `name:"sql-role" default:"strict" enum:"strict,warn" env:"TOOLNORM_SQL_ROLE" help:"A role that can do more than read, as a superuser: strict refuses to work with it, warn says so in the log."`
	SQLRows      int           `name:"sql-rows" default:"1000" env:"TOOLNORM_SQL_ROWS" help:"How many rows one statement gives at most."`
	SQLTime      time.Duration `name:"sql-time" default:"10s" env:"TOOLNORM_SQL_TIME" help:"How long one statement may take."`
	SQLFunctions []string      `name:"sql-functions" placeholder:"NAME" env:"TOOLNORM_SQL_FUNCTIONS" help:"Further functions that statements may call, as st_distance or reports.margin. They must change nothing."`
}

// any says that something is set by which the tools would work.
// Ports have defaults, and the name of a model or a collection reaches nothing by itself.
func (c *Config) any() bool {
	return c.EmbeddingURL != "" || c.ChromaHost != "" || c.PostgresHost != "" || c.PostgresName != ""
}

// Embedder is the model that makes vectors; nil when none is set.
func (c *Config) Embedder() *embedding.Client {
	if c.EmbeddingURL == "" || c.EmbeddingModel == "" {
		return nil
	}
	return &embedding.Client{URL: c.EmbeddingURL, Model: c.EmbeddingModel, Key: c.EmbeddingKey}
}

// missingSQL are the variables without which no database can be asked.
// A password may rightly be missing: the server may trust the connection, or .pgpass has it.
func (c *Config) missingSQL() (names []string) {
	for _, s := range []struct{ name, value string }{
		{"POSTGRESQL_DB_HOST", c.PostgresHost}, {"POSTGRESQL_DB_NAME", c.PostgresName}, {"POSTGRESQL_DB_USER", c.PostgresUser},
	} {
		if s.value == "" {
			names = append(names, s.name)
		}
	}
	return names
}
