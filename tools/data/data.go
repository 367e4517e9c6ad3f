// Package data holds the data tools: vectors of texts, search in a collection of descriptions, and
// read-only SQL, for an agent that turns questions into SQL.
//
// Each tool is one Go file with its function and one Markdown file with the description that a
// model reads.
//
//	get_text_embedding.go           vectors of texts
//	search_similar_documents.go     documents like queries
//	get_sql_reference_documents.go  what is needed to write a statement
//	execute_postgres_query.go       one SELECT, and its success and error shapes
//	complete_column_extraction.go   the sign to go on to the SQL
//	sanitize_for_csv.go             no-break spaces
//
//	data.go          opens what the settings name, and decides which tools are offered
//	config.go        the settings, for every program that has them
//	search.go        looks where the collection is, by vectors, by words, or both
//	collection.go    a collection in the store of the tools
//	import.go        fills a collection, the same twice
//	documents.go     reads documents out of files
//
// Names of tools, arguments and results, defaults and the sentences of errors are those of the
// tools' specification, byte for byte, since agents look for them; only members that it does not
// name were added. Nothing is made up for a missing setting: without a model that makes vectors
// there are no vectors, and stages says so.
package data

import (
	"context"
	"errors"
	"fmt"

	"toolnorm/internal/chroma"
	"toolnorm/internal/embedding"
	"toolnorm/internal/sqlsafe"
	"toolnorm/internal/store"
	"toolnorm/tools"
)

// Data runs the data tools with the servers in its settings. It is safe for concurrent use.
type Data struct {
	config     Config
	embedder   *embedding.Client // nil: no model is configured
	chroma     *chroma.Client    // nil: the collection is in the tools' own database
	postgres   *sqlsafe.PostgresDB
	collection *collection
	audit      func(context.Context, Audit)
}

// Audit is what is logged about each statement. The text and the result are never logged, since a
// statement may contain what it looks for, such as the name or number of a person.
type Audit struct {
	Statement string // the beginning of the statement's SHA-256
	Rows      int
	Millis    int64
	Outcome   string // ok, refused, or the SQLSTATE
}

// Open returns a Data with the settings c. It does not contact the configured embedding model and
// databases yet, so those servers need not be running. audit and warn may be nil. Chroma without
// the name of a collection counts as not configured, since no default could be right. Open returns
// an error if the tables in db cannot be created or a setting is not valid.
func Open(ctx context.Context, c Config, db *store.DB, audit func(context.Context, Audit),
	warn func(string)) (*Data, error) {
	d := &Data{config: c, audit: audit, embedder: c.Embedder()}
	if d.audit == nil {
		d.audit = func(context.Context, Audit) {}
	}
	if c.ChromaHost != "" && c.ChromaCollection != "" {
		d.chroma = &chroma.Client{Host: c.ChromaHost, Port: c.ChromaPort,
			Collection: c.ChromaCollection, Header: c.ChromaHeader}
	}
	var err error
	if d.collection, err = openCollection(ctx, db, c.ChromaCollection, warn); err != nil {
		return nil, fmt.Errorf("data: %w", err)
	}
	if len(c.missingSQL()) == 0 {
		if d.postgres, err = sqlsafe.OpenPostgres(sqlsafe.PostgresConfig{
			Host: c.PostgresHost, Port: c.PostgresPort, Database: c.PostgresName,
			User: c.PostgresUser, Password: c.PostgresPass,
			Limits: sqlsafe.Limits{Rows: c.SQLRows, Time: c.SQLTime}, Functions: c.SQLFunctions,
			AnyRole: c.SQLRole == "warn", Warn: warn,
		}); err != nil {
			return nil, fmt.Errorf("data: %w", err)
		}
	}
	return d, nil
}

// Close closes the connections to the databases. It does nothing if d is nil.
func (d *Data) Close() {
	if d != nil && d.postgres != nil {
		d.postgres.Close()
	}
}

// Tools returns the data tools if they are wanted, and otherwise nil, since every offered tool
// makes a small model less precise. The data tools are wanted if the settings say so. If the
// settings leave it open, they are wanted if a setting names a server or the collection has
// documents. It returns an error if the documents cannot be counted.
func (d *Data) Tools(ctx context.Context) ([]tools.Tool, error) {
	if d.config.Tools == "never" {
		return nil, nil
	}
	if d.config.Tools != "always" && !d.config.any() {
		if n, err := d.collection.count(ctx); err != nil || n == 0 {
			return nil, err
		}
	}
	return d.All(), nil
}

// All returns all data tools, even if the settings switch them off. Other tools must not have their
// names, because the data tools would hide such a tool when they are switched on. All may be called
// with a nil d.
func (d *Data) All() []tools.Tool {
	if d == nil { // their data cannot be opened
		d = new(Data)
	}
	return []tools.Tool{d.getTextEmbedding(), d.searchSimilarDocuments(), d.executePostgresQuery(),
		d.getSQLReferenceDocuments(), completeColumnExtraction(), sanitizeForCSV()}
}

// hints returns the hints of the data tools. All these tools only read; openWorld says whether the
// tool contacts servers. An MCP client asks its user before it calls a tool that could change
// something, and none of these does.
func hints(openWorld bool) tools.Hints {
	yes, no := true, false
	return tools.Hints{ReadOnly: &yes, Destructive: &no, Idempotent: &yes, OpenWorld: &openWorld}
}

// errNoEmbedder returns an error that names the missing setting, so that the reader of a result,
// model or human, knows what to configure.
func (d *Data) errNoEmbedder() error {
	if d.config.EmbeddingURL == "" {
		return errors.New(
			"TEXT_EMBEDDING_MODEL_URL is not set: there is no model that makes vectors")
	}
	return errors.New(
		"TEXT_EMBEDDING_MODEL_NAME is not set: the server has to be told which model makes the vectors")
}
