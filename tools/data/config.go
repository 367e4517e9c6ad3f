package data

import (
	"time"

	"toolnorm/internal/embedding"
)

// Config contains the settings of the data tools. The command line reads the fields' tags. The
// environment variables without TOOLNORM_ are named in the tools' specification. If a setting is
// missing, the program still starts; only the tools that need it fail, with a result that names it.
type Config struct {
	Tools string `name:"data-tools" default:"auto" enum:"auto,always,never" env:"TOOLNORM_DATA_TOOLS" restart:"yes" help:"Offer the data tools (embeddings, similarity search, SQL): always, never, or auto: only if one of their settings is present or documents were imported."`

	EmbeddingURL   string `name:"text-embedding-model-url" placeholder:"URL" env:"TOOLNORM_TEXT_EMBEDDING_MODEL_URL,TEXT_EMBEDDING_MODEL_URL" restart:"yes" help:"Embedding server: the full URL of an OpenAI-style /v1/embeddings, or of Ollama's /api/embed. Default: none; searches match words only."`
	EmbeddingModel string `name:"text-embedding-model-name" placeholder:"NAME" env:"TOOLNORM_TEXT_EMBEDDING_MODEL_NAME,TEXT_EMBEDDING_MODEL_NAME" restart:"yes" help:"Embedding model, e.g. bge-m3."`
	EmbeddingKey   string `name:"text-embedding-model-key" placeholder:"KEY" env:"TOOLNORM_TEXT_EMBEDDING_MODEL_KEY" restart:"yes" help:"API key for the embedding server. Better set in the environment."`

	ChromaHost       string `name:"chromadb-host" placeholder:"HOST" env:"TOOLNORM_CHROMADB_HOST,CHROMADB_HOST" restart:"yes" help:"Chroma server that holds the collection: a host name or a URL. Default: none; the collection is in the tools' own database."`
	ChromaPort       int    `name:"chromadb-port" default:"8000" env:"TOOLNORM_CHROMADB_PORT,CHROMADB_PORT" restart:"yes" help:"Port of the Chroma server."`
	ChromaCollection string `name:"chromadb-collection-name" placeholder:"NAME" env:"TOOLNORM_CHROMADB_COLLECTION_NAME,CHROMADB_COLLECTION_NAME" restart:"yes" help:"Collection to search, in Chroma or in the tools' own database."`
	ChromaHeader     string `name:"chromadb-header" placeholder:"NAME: VALUE" env:"TOOLNORM_CHROMADB_HEADER" restart:"yes" help:"Header to send to the Chroma server, such as its access token. Better set in the environment."`

	PostgresHost string `name:"postgresql-db-host" placeholder:"HOST" env:"TOOLNORM_POSTGRESQL_DB_HOST,POSTGRESQL_DB_HOST" restart:"yes" help:"PostgreSQL server that execute_postgres_query queries. Default: none."`
	PostgresPort int    `name:"postgresql-db-port" default:"5432" env:"TOOLNORM_POSTGRESQL_DB_PORT,POSTGRESQL_DB_PORT" restart:"yes" help:"Port of the PostgreSQL server."`
	PostgresName string `name:"postgresql-db-name" placeholder:"NAME" env:"TOOLNORM_POSTGRESQL_DB_NAME,POSTGRESQL_DB_NAME" restart:"yes" help:"PostgreSQL database to query."`
	PostgresUser string `name:"postgresql-db-user" placeholder:"NAME" env:"TOOLNORM_POSTGRESQL_DB_USER,POSTGRESQL_DB_USER" restart:"yes" help:"PostgreSQL role to connect as. It should have the right to SELECT and nothing else."`
	PostgresPass string `name:"postgresql-db-pass" placeholder:"PASSWORD" env:"TOOLNORM_POSTGRESQL_DB_PASS,POSTGRESQL_DB_PASS" restart:"yes" help:"Password of that role. Better set in the environment."`

	SQLRole      string        `name:"sql-role" default:"strict" enum:"strict,warn" env:"TOOLNORM_SQL_ROLE" restart:"yes" help:"If the role can do more than read, such as a superuser: strict refuses to run statements, warn only logs a warning."`
	SQLRows      int           `name:"sql-rows" default:"1000" env:"TOOLNORM_SQL_ROWS" restart:"yes" help:"Maximum number of rows that a statement returns."`
	SQLTime      time.Duration `name:"sql-time" default:"10s" env:"TOOLNORM_SQL_TIME" restart:"yes" help:"Time limit for a statement."`
	SQLFunctions []string      `name:"sql-functions" placeholder:"NAME" env:"TOOLNORM_SQL_FUNCTIONS" restart:"yes" help:"Further functions that statements may call, such as st_distance or reports.margin. They must not change anything."`
}

// any reports whether at least one setting names a server, since only then can a data tool work.
// Settings of ports are not enough, since they have defaults. Nor are names of models and
// collections, since they reach nothing by themselves.
func (c *Config) any() bool {
	return c.EmbeddingURL != "" || c.ChromaHost != "" || c.PostgresHost != "" ||
		c.PostgresName != ""
}

// Embedder returns the client of the model that makes vectors, or nil if no model is configured.
func (c *Config) Embedder() *embedding.Client {
	if c.EmbeddingURL == "" || c.EmbeddingModel == "" {
		return nil
	}
	return &embedding.Client{URL: c.EmbeddingURL, Model: c.EmbeddingModel, Key: c.EmbeddingKey}
}

// missingSQL returns the names of the environment variables that are missing for a connection to a
// database. The password is not required, because the server may trust the connection, or .pgpass
// may have it.
func (c *Config) missingSQL() (names []string) {
	for _, s := range []struct{ name, value string }{
		{"POSTGRESQL_DB_HOST", c.PostgresHost}, {"POSTGRESQL_DB_NAME", c.PostgresName},
		{"POSTGRESQL_DB_USER", c.PostgresUser},
	} {
		if s.value == "" {
			names = append(names, s.name)
		}
	}
	return names
}
