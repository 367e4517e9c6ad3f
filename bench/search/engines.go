package main

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"unicode"

	"github.com/blevesearch/bleve/v2"
	_ "github.com/blevesearch/bleve/v2/config" // its analyzers of languages
	"github.com/jackc/pgx/v5"
	_ "modernc.org/sqlite"

	"toolnorm/internal/auth"
	"toolnorm/tools/kb/kbstore"
	"toolnorm/tools/kb/retrieval"
)

// engine is a search engine.
type engine struct {
	name string
	open opener
}

// opener is a function that indexes the passages of a set. It returns a finder, and a function that
// closes the index, or an error.
type opener func(ctx context.Context, s set) (find finder, done func(), err error)

// finder is a function that returns the indexes of the passages that match a text, the best first.
type finder func(text string) ([]int, error)

// all returns the engines that are compared. toolnorm's searches by words alone, and each other
// engine is set up as its manual recommends for a language. PostgreSQL is one of them if the URL
// postgres is not empty.
func all(postgres string) []engine {
	engines := []engine{
		{"toolnorm", openToolnorm},
		{"bleve", openBleve},
		{"FTS5 unicode61", fts5("unicode61", words)},
		{"FTS5 trigram", fts5("trigram", trigrams)},
	}
	if postgres != "" {
		engines = append(engines, engine{"PostgreSQL", openPostgres(postgres)})
	}
	return engines
}

// openToolnorm imports the passages of a set into a new database of toolnorm. It returns a function
// that searches them, and a function that closes the database and removes it. It returns an error
// if the import fails.
func openToolnorm(ctx context.Context, s set) (finder, func(), error) {
	dir, err := os.MkdirTemp("", "search")
	if err != nil {
		return nil, nil, err
	}
	store, err := kbstore.OpenStore(ctx, filepath.Join(dir, "knowledge.db"))
	if err != nil {
		return nil, nil, err
	}
	done := func() { _ = store.Close(); _ = os.RemoveAll(dir) }
	base, err := store.Create(ctx, kbstore.Base{Name: "set", Tenant: "local"})
	if err != nil {
		return nil, done, err
	}
	collection, err := store.Collect(ctx, base.ID, "all")
	if err != nil {
		return nil, done, err
	}
	for i, p := range s.passages {
		d := kbstore.Document{Collection: collection, Source: strconv.Itoa(i),
			Access: kbstore.Access{Tenant: "local", Public: true}}
		if title, _, ok := strings.Cut(p.heading, " > "); ok {
			d.Title = title
		}
		err := store.Put(ctx, base.ID, &d, []kbstore.Chunk{{Heading: p.heading, Text: p.text}})
		if err != nil {
			return nil, done, err
		}
	}
	changes, err := store.Changes(ctx, base.ID, 0)
	if err != nil {
		return nil, done, err
	}
	at := map[string]int{}
	for _, d := range changes.Documents {
		at[d.ID], _ = strconv.Atoi(d.Source)
	}
	local := &retrieval.Local{Store: store}
	return func(text string) (found []int, err error) {
		r, err := local.Search(ctx, retrieval.Query{Text: text, Base: base.ID, Max: shown,
			Principal: auth.Local()})
		if err != nil {
			return nil, err
		}
		for _, f := range r.Results {
			found = append(found, at[f.Metadata.Document])
		}
		return found, nil
	}, done, nil
}

// analyzers maps languages to the names of bleve's analyzers, where the names differ.
var analyzers = map[string]string{"ja": "cjk", "ko": "cjk", "zh": "cjk", "nb": "no"}

// openBleve indexes the passages of a set in memory, with bleve's analyzer for their language. It
// returns a function that searches the index, and one that closes it. It returns an error if the
// passages cannot be indexed.
func openBleve(_ context.Context, s set) (finder, func(), error) {
	mapping := bleve.NewIndexMapping()
	mapping.DefaultAnalyzer = s.language
	if other := analyzers[s.language]; other != "" {
		mapping.DefaultAnalyzer = other
	}
	index, err := bleve.NewMemOnly(mapping)
	if err != nil {
		mapping.DefaultAnalyzer = "standard" // bleve has no analyzer for the language
		index, err = bleve.NewMemOnly(mapping)
	}
	if err != nil {
		return nil, nil, err
	}
	done := func() { _ = index.Close() }
	for i, p := range s.passages {
		document := map[string]string{"heading": p.heading, "text": p.text}
		if err := index.Index(strconv.Itoa(i), document); err != nil {
			return nil, done, err
		}
	}
	return func(text string) (found []int, err error) {
		r, err := index.Search(bleve.NewSearchRequestOptions(bleve.NewMatchQuery(text), shown, 0,
			false))
		if err != nil {
			return nil, err
		}
		for _, hit := range r.Hits {
			i, err := strconv.Atoi(hit.ID)
			if err != nil {
				return nil, err
			}
			found = append(found, i)
		}
		return found, nil
	}, done, nil
}

// fts5 returns a function that puts passages into an index of SQLite's FTS5 with a tokenizer. The
// index is searched for any of the terms of a question, and the passages are ordered by FTS5's own
// BM25.
func fts5(tokenizer string, terms func(string) []string) opener {
	return func(ctx context.Context, s set) (finder, func(), error) {
		db, err := sql.Open("sqlite", ":memory:")
		if err != nil {
			return nil, nil, err
		}
		db.SetMaxOpenConns(1)
		done := func() { _ = db.Close() }
		_, err = db.ExecContext(ctx, `CREATE VIRTUAL TABLE p
			USING fts5(heading, text, tokenize = '`+tokenizer+`')`)
		for i, p := range s.passages {
			if err == nil {
				_, err = db.ExecContext(ctx,
					`INSERT INTO p (rowid, heading, text) VALUES (?, ?, ?)`, i+1, p.heading, p.text)
			}
		}
		return func(text string) (found []int, err error) {
			all := terms(text)
			if len(all) == 0 {
				return nil, nil
			}
			rows, err := db.QueryContext(ctx,
				`SELECT rowid - 1 FROM p WHERE p MATCH ? ORDER BY rank LIMIT ?`,
				`"`+strings.Join(all, `" OR "`)+`"`, shown)
			if err != nil {
				return nil, err
			}
			defer rows.Close()
			for rows.Next() {
				var i int
				if err := rows.Scan(&i); err != nil {
					return nil, err
				}
				found = append(found, i)
			}
			return found, rows.Err()
		}, done, err
	}
}

// words returns the words of a text.
func words(text string) []string {
	return strings.FieldsFunc(text, func(r rune) bool {
		return !unicode.IsLetter(r) && !unicode.IsNumber(r) && !unicode.IsMark(r)
	})
}

// trigrams returns all pieces of three characters within the words of a text. Shorter words have no
// such pieces.
func trigrams(text string) (all []string) {
	for _, word := range words(text) {
		for r := []rune(word); len(r) >= 3; r = r[1:] {
			all = append(all, string(r[:3]))
		}
	}
	return all
}

// configurations maps languages to PostgreSQL's text search configurations. For other languages
// words are used as they are.
var configurations = map[string]string{"ar": "arabic", "ca": "catalan", "da": "danish",
	"de": "german", "el": "greek", "en": "english", "es": "spanish", "fi": "finnish",
	"fr": "french", "hu": "hungarian", "id": "indonesian", "it": "italian", "nb": "norwegian",
	"nl": "dutch", "pt": "portuguese", "ro": "romanian", "ru": "russian", "sv": "swedish",
	"tr": "turkish"}

// openPostgres returns a function that puts passages into a temporary table of the database at url.
// The table is searched for any of the words of a question, and the passages are ordered by
// ts_rank.
func openPostgres(url string) opener {
	return func(ctx context.Context, s set) (finder, func(), error) {
		db, err := pgx.Connect(ctx, url)
		if err != nil {
			return nil, nil, err
		}
		done := func() { _ = db.Close(ctx) }
		configuration := configurations[s.language]
		if configuration == "" {
			configuration = "simple"
		}
		_, err = db.Exec(ctx, `CREATE TEMPORARY TABLE p (n int, t tsvector)`)
		for i, p := range s.passages {
			if err == nil {
				_, err = db.Exec(ctx,
					`INSERT INTO p VALUES ($1, to_tsvector($2::text::regconfig, $3))`, i, configuration,
					p.heading+"\n"+p.text)
			}
		}
		if err != nil {
			return nil, done, fmt.Errorf("index: %w", err)
		}
		return func(text string) ([]int, error) {
			rows, err := db.Query(ctx, `WITH q AS (SELECT replace(plainto_tsquery(
					$1::text::regconfig, $2)::text, '&', '|')::tsquery AS q)
				SELECT n FROM p, q WHERE t @@ q ORDER BY ts_rank(t, q, 1) DESC, n LIMIT $3`,
				configuration, text, shown)
			if err != nil {
				return nil, err
			}
			return pgx.CollectRows(rows, pgx.RowTo[int])
		}, done, nil
	}
}
