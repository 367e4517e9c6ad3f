package data

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"

	"toolnorm/internal/home"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/storetest"
	"toolnorm/internal/toolargs"
	"toolnorm/tools"
)

var databases storetest.Databases

func TestMain(m *testing.M) { os.Exit(databases.Main(m)) }

// open opens the tools on a new store, in a registry as the program has it.
func open(t *testing.T, c Config) (*Data, *tools.Registry) {
	t.Helper()
	return openOn(t, c, filepath.Join(t.TempDir(), "x.db"))
}

// openOn is open on a store.
func openOn(t *testing.T, c Config, where string) (*Data, *tools.Registry) {
	t.Helper()
	db := storetest.Open(t, where)
	c.Tools = "always"
	d := must.Have(Open(t.Context(), c, db, nil, nil))(t)
	t.Cleanup(d.Close)
	all := must.Have(d.Tools(t.Context()))(t)
	args := new(toolargs.Reader)
	r := tools.New(tools.Options{Fit: args.Fit})
	must.OK(t, r.Set("data", all...))
	return d, r
}

// call gives the text of a call's result.
func call(t *testing.T, r *tools.Registry, name, args string) (text string, failed bool) {
	t.Helper()
	res := r.Call(t.Context(), name, json.RawMessage(args))
	if res.Structured != nil && string(res.Structured) != res.Text() {
		t.Errorf("%s: the structure %s is not the text %s", name, res.Structured, res.Text())
	}
	return res.Text(), res.IsError
}

func TestTheSpecifiedExamplesOfTheSmallTools(t *testing.T) {
	_, r := open(t, Config{})
	for _, c := range []struct {
		tool, args, want string
		failed           bool
	}{
		{"complete_column_extraction", `{"extracted_columns":{"items":[{"extracted_column_name":"user_id"},{"extracted_column_name":"email"},{"extracted_column_name":"created_at"}]}}`,
			`{"status":"success","message":"Column name extraction completed.","escalate":true}`, false},
		{"complete_column_extraction", `{"extracted_columns":{"items":[]}}`, `{"status":"error","message":"Column name extraction required.","escalate":false}`, true},
		{"complete_column_extraction", `{"extracted_columns":{}}`, `{"status":"error","message":"Column name extraction required.","escalate":false}`, true},
		{"complete_column_extraction", `{"extracted_columns":null}`, `{"status":"error","message":"Column name extraction required.","escalate":false}`, true},
		{"complete_column_extraction", `{"extracted_columns":{"items":[{"extracted_column_name":"  "}]}}`, `{"status":"error","message":"Column name extraction required.","escalate":false}`, true},
		{"sanitize_for_csv", `{"text":"SELECT\u00A0user_id,\u00A0email FROM users"}`, `{"sanitized_text":"SELECT user_id, email FROM users"}`, false},
		{"sanitize_for_csv", `{"text":"a\u00a0\u00a0b\u202f\u3000\r\n<&>"}`, `{"sanitized_text":"a  b` + "\u202f\u3000" + `\r\n<&>"}`, false},
		{"get_text_embedding", `{"text_list":[]}`, `{"embeddings":[]}`, false},
		{"get_text_embedding", `{"text_list":["x"]}`, `TEXT_EMBEDDING_MODEL_URL is not set: there is no model that makes vectors`, true},
		{"search_similar_documents", `{"query_list":[]}`, `{"documents":[],"stages":[]}`, false},
		{"execute_postgres_query", `{"sql_query":"SELECT 1"}`, `{"status":"error","message":"Error while querying DB: no database is set: POSTGRESQL_DB_HOST, POSTGRESQL_DB_NAME, POSTGRESQL_DB_USER is missing"}`, true},
	} {
		if got, failed := call(t, r, c.tool, c.args); got != c.want || failed != c.failed {
			t.Errorf("%s %s\n got %s, %v\nwant %s, %v", c.tool, c.args, got, failed, c.want, c.failed)
		}
	}
	if got, failed := call(t, r, "sanitize_for_csv", `{"text":"x","more":1}`); !failed || !strings.Contains(got, "more") {
		t.Errorf("an unknown argument: %s", got)
	}
}

// letters is a model for tests: a dimension for each letter, so that it can be said what is near.
func letters(t *testing.T, ollama bool, asked *int) string {
	srv := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		*asked++
		var in struct {
			Model    string
			Input    []string
			Truncate *bool
		}
		if err := json.NewDecoder(r.Body).Decode(&in); err != nil || in.Model != "letters" || len(in.Input) > 32 || ollama == (in.Truncate == nil) {
			t.Errorf("asked %+v: %v", in, err)
		}
		var all, data []any
		for i, text := range in.Input {
			v := make([]float32, 26)
			for _, c := range strings.ToLower(text) {
				if c >= 'a' && c <= 'z' {
					v[c-'a']++
				}
			}
			all = append(all, v)
			data = append([]any{map[string]any{"index": i, "embedding": v}}, data...) // backwards
		}
		if ollama {
			json.NewEncoder(w).Encode(map[string]any{"embeddings": all})
			return
		}
		json.NewEncoder(w).Encode(map[string]any{"data": data})
	}))
	t.Cleanup(srv.Close)
	if ollama {
		return srv.URL + "/api/embed"
	}
	return srv.URL + "/v1/embeddings"
}

func TestEmbeddingsComeInOrderAndInBatches(t *testing.T) {
	for _, ollama := range []bool{false, true} {
		asked := 0
		_, r := open(t, Config{EmbeddingURL: letters(t, ollama, &asked), EmbeddingModel: "letters"})
		var texts []string
		for i := range 70 {
			texts = append(texts, strings.Repeat("b", i+1))
		}
		args := must.Have(json.Marshal(map[string]any{"text_list": texts}))(t)
		for range 2 { // the second time from the cache
			got, failed := call(t, r, "get_text_embedding", string(args))
			var out embeddings
			if err := json.Unmarshal([]byte(got), &out); err != nil || failed || len(out.Embeddings) != 70 || out.Embeddings[69][1] != 70 || asked != 3 {
				t.Fatalf("ollama %v: %d vectors, asked %d times: %v %.200s", ollama, len(out.Embeddings), asked, err, got)
			}
		}
	}
}

// catalog writes a table of columns, and gives its path.
func catalog(t *testing.T, rows ...string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "catalog.csv")
	text := "table,column,type,description\n" + strings.Join(rows, "\n")
	must.Write(t, path, text)
	return path
}

// imported imports a file, and checks what was said of it.
func imported(t *testing.T, d *Data, path string, want Imported) {
	t.Helper()
	got, err := d.Import(t.Context(), path, nil)
	if err != nil || len(got) != 1 || got[0] != want {
		t.Fatalf("Import = %+v, %v; want %+v", got, err, want)
	}
}

// columns are rows of a catalog.
var columns = []string{
	"users,user_id,INTEGER,고유 사용자 식별자", "users,email,VARCHAR(255),사용자 이메일 주소", "users,created_at,TIMESTAMP,계정 생성 일시",
	"users,username,VARCHAR(100),사용자명", "errors,E-4012,TEXT,timeouts of payment",
}

func TestWithoutAModelWordsFindAndTheResultSaysSo(t *testing.T) {
	databases.Each(t, func(t *testing.T, where string) {
		d, r := openOn(t, Config{}, where)
		if got, failed := call(t, r, "get_sql_reference_documents", `{"user_query":"x"}`); !failed || !strings.Contains(got, "docs import") {
			t.Errorf("an empty collection: %s", got)
		}
		path := catalog(t, columns...)
		imported(t, d, path, Imported{"catalog.csv", 5, 0, 0})
		imported(t, d, path, Imported{"catalog.csv", 5, 0, 0})
		got, _ := call(t, r, "get_sql_reference_documents", `{"user_query":"2024년 1월 이후 가입한 사용자의 이메일 주소를 알려줘","n_results":1.0}`)
		want := `{"reference_docs":["table: users, column: email, type: VARCHAR(255), description: 사용자 이메일 주소"],"stages":[{"name":"dense","status":"skipped","reason":"TEXT_EMBEDDING_MODEL_URL is not set: there is no model that makes vectors"},{"name":"sparse","status":"ok"}]}`
		if got != want {
			t.Errorf("got %s\nwant %s", got, want)
		}
		got, _ = call(t, r, "search_similar_documents", `{"query_list":["created_at","e-4012","zzz"],"n_results":"1"}`)
		if !strings.HasPrefix(got, `{"documents":[["table: users, column: created_at, type: TIMESTAMP, description: 계정 생성 일시"],["table: errors, column: E-4012, type: TEXT, description: timeouts of payment"],[]]`) {
			t.Errorf("got %s", got)
		}
		imported(t, d, catalog(t, columns[:2]...), Imported{"catalog.csv", 2, 0, 3})
		if got, _ = call(t, r, "search_similar_documents", `{"query_list":["created_at"]}`); strings.Contains(got, "created_at") {
			t.Errorf("what is gone is found: %s", got)
		}
	})
}

func TestVectorsFindAndAreMadeOnce(t *testing.T) {
	asked := 0
	config := Config{EmbeddingURL: letters(t, false, &asked), EmbeddingModel: "letters"}
	d, r := open(t, config)
	path := filepath.Join(t.TempDir(), "words.txt")
	must.Write(t, path, "banana\n\ncherry\nbanana\napricot\n")
	imported(t, d, path, Imported{"words.txt", 3, 3, 0})
	imported(t, d, path, Imported{"words.txt", 3, 0, 0})
	got, _ := call(t, r, "search_similar_documents", `{"query_list":["nab","chery"],"n_results":2.0}`)
	if want := `{"documents":[["banana","apricot"],["cherry","apricot"]],"stages":[{"name":"dense","status":"ok"},{"name":"sparse","status":"skipped","reason":"vectors were compared"}]}`; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	d.embedder.Model, d.config.EmbeddingModel = "other", "other" // its vectors mean something else
	if _, stages, err := d.find(t.Context(), []string{"nab"}, 2, false); err != nil || stages[0].Status != "failed" {
		t.Errorf("%+v, %v", stages, err)
	}
	d.embedder.URL = "http://127.0.0.1:1/v1/embeddings"
	if found, stages, err := d.find(t.Context(), []string{"cherry pie"}, 2, true); err != nil || stages[0].Status != "failed" || found[0][0] != "cherry" {
		t.Errorf("%v %+v, %v", found, stages, err)
	}
}

func TestWhatIsOffered(t *testing.T) {
	db := storetest.Open(t, filepath.Join(t.TempDir(), "x.db"))
	for c, want := range map[string]struct {
		config Config
		n      int
	}{
		"nothing set": {Config{}, 0}, "always": {Config{Tools: "always"}, 6}, "never": {Config{Tools: "never", PostgresHost: "x"}, 0}, "a database": {Config{PostgresHost: "x"}, 6},
	} {
		d := must.Have(Open(t.Context(), want.config, db, nil, nil))(t)
		if all, err := d.Tools(t.Context()); err != nil || len(all) != want.n {
			t.Errorf("%s: %d tools, %v", c, len(all), err)
		}
	}
}

func TestSettingsOfOtherPrograms(t *testing.T) {
	env := map[string]string{"POSTGRESQL_DB_HOST": "h", "TOOLNORM_SQL_FUNCTIONS": "a,b"}
	var c Config
	err := home.Fill(&c, func(name string) string { return env[name] }, map[string]any{"postgresql-db-host": "file", "sql-time": "3s", "sql-rows": 7})
	if err != nil || c.PostgresHost != "h" || c.SQLTime.Seconds() != 3 || c.SQLRows != 7 || c.ChromaPort != 8000 || fmt.Sprint(c.SQLFunctions) != "[a b]" || c.Tools != "auto" {
		t.Errorf("%+v, %v", c, err)
	}
	if err := home.Fill(new(Config), func(string) string { return "" }, map[string]any{"chromadb-port": "x"}); err == nil || !strings.HasPrefix(err.Error(), "chromadb-port") {
		t.Error(err)
	}
}

func TestTheSpecifiedExamplesOfSQL(t *testing.T) {
	where := databases.Postgres(t)
	admin := must.Have(pgx.Connect(t.Context(), where))(t)
	defer admin.Close(context.Background())
	must.Have(admin.Exec(t.Context(), `CREATE TABLE users (user_id int, username text, email text, created_at date);
		INSERT INTO users VALUES (1, 'john_doe', 'john@example.com', '2024-03-01'), (2, 'jane_smith', 'jane@example.com', '2024-04-01'), (3, 'old', '', '2023-01-01');
		CREATE ROLE asker LOGIN; GRANT SELECT ON users TO asker`))(t)
	c := admin.Config()
	var noted []Audit
	config := Config{PostgresHost: c.Host, PostgresPort: int(c.Port), PostgresName: c.Database, PostgresUser: "asker"}
	d, r := open(t, config)
	d.audit = func(_ context.Context, a Audit) { noted = append(noted, a) }
	const sql = `SELECT user_id, username, email FROM users WHERE created_at > '2024-01-01' LIMIT 10`
	got, failed := call(t, r, "execute_postgres_query", `{"sql_query":"`+sql+`"}`)
	want := `{"status":"success","message":"SQL executed.","data":{"type":"csv_table","content":{"sql":"` + sql + `","records":[{"user_id":1,"username":"john_doe","email":"john@example.com"},{"user_id":2,"username":"jane_smith","email":"jane@example.com"}],"columns":["user_id","username","email"],"row_count":2,"truncated":false}}}`
	if got != want || failed {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for sql, want := range map[string]string{
		"SELECT * FROM user":                    `{"status":"success"`,
		"SELECT 1 FROM users2":                  `{"status":"error","message":"Error while querying DB: relation 'users2' does not exist","sqlstate":"42P01"}`,
		"SELECT nope FROM users":                `{"status":"error","message":"Error while querying DB: column 'nope' does not exist","sqlstate":"42703"}`,
		"SELEC 1":                               `{"status":"error","message":"Error while querying DB: syntax error at or near 'SELEC' (line 1, column 1)","sqlstate":"42601"}`,
		"DROP TABLE users":                      `{"status":"error","message":"Error while querying DB: only SELECT statements are allowed; this is DROP (line 1, column 1)"}`,
		"SELECT user_id FROM users WHERE false": `{"status":"success","message":"SQL executed.","data":{"type":"csv_table","content":{"sql":"SELECT user_id FROM users WHERE false","records":[],"columns":["user_id"],"row_count":0,"truncated":false}}}`,
	} {
		if got, failed := call(t, r, "execute_postgres_query", `{"sql_query":"`+sql+`"}`); !strings.HasPrefix(got, want) || failed != strings.Contains(want, "error") {
			t.Errorf("%s\n got %s\nwant %s", sql, got, want)
		}
	}
	if len(noted) != 7 || noted[0].Rows != 2 || noted[0].Outcome != "ok" || noted[0].Statement == "" {
		t.Errorf("noted %+v", noted)
	}
}

func FuzzColumns(f *testing.F) {
	f.Add(`{"extracted_columns":{"items":[{"extracted_column_name":"a"}]}}`)
	f.Add(`{"extracted_columns":null}`)
	f.Fuzz(func(t *testing.T, args string) {
		if out := extraction(json.RawMessage(args)); out.Escalate != (out.Status == "success") || out.Escalate && !json.Valid([]byte(args)) {
			t.Errorf("%q: %+v", args, out)
		}
	})
}

func FuzzSanitize(f *testing.F) {
	f.Add("a\u00a0b")
	tool := sanitizeForCSV()
	f.Fuzz(func(t *testing.T, text string) {
		args, err := json.Marshal(map[string]string{"text": text})
		if err != nil {
			t.Skip()
		}
		res := must.Have(tool.Call(context.Background(), args))(t)
		var in struct{ Text string }
		var out sanitized
		if json.Unmarshal(args, &in) != nil || json.Unmarshal(res.Structured, &out) != nil {
			t.Fatal("no JSON")
		}
		a, b := []rune(in.Text), []rune(out.Text)
		if len(a) != len(b) {
			t.Fatalf("%q is %q", in.Text, out.Text)
		}
		for i := range a {
			if a[i] != b[i] && (a[i] != '\u00a0' || b[i] != ' ') || b[i] == '\u00a0' {
				t.Fatalf("%q is %q", in.Text, out.Text)
			}
		}
	})
}

func TestRowsOfAnySeparatorAreDocuments(t *testing.T) {
	for text, want := range map[string][]string{
		"name\tdesc\r\nA\t\"big\" one\r\nB\tsix\r\n":                 {"name: A, desc: \"big\" one", "name: B, desc: six"},
		"name\tdesc\nA\ta, b, c\nB\td, e, f":                         {"name: A, desc: a, b, c", "name: B, desc: d, e, f"},
		"table;desc\nusers;\"the mail; private\"\nusers;key, unique": {"table: users, desc: the mail; private", "table: users, desc: key, unique"},
		"sep=;\r\na;b\r\n1,5;2\r\n":                                  {"a: 1,5, b: 2"},
		"a,b\n6\" wide,\"x\ny\"":                                     {"a: 6\" wide, b: x\ny"},
		"text\nhello; world\n\"a, b\"":                               {"text: hello; world", "text: a, b"},
	} {
		if got, err := rowsOf([]byte(text)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: %q, %v", text, got, err)
		}
	}
	if _, err := rowsOf([]byte("a\tb\n1")); err == nil || err.Error() != "row 2 has 1 values, and the first has 2" {
		t.Error(err)
	}
}

func TestEndingsInCapitalsAreImportedToo(t *testing.T) {
	dir := t.TempDir()
	must.Write(t, filepath.Join(dir, "A.CSV"), "x")
	if all, err := importable(dir); err != nil || len(all) != 1 {
		t.Errorf("%v, %v", all, err)
	}
}

func FuzzDocuments(f *testing.F) {
	f.Add("a,b\n1,2\n", ".csv")
	f.Add(`["a",{"text":"b"}]`, ".json")
	f.Fuzz(func(t *testing.T, text, ending string) {
		if read := readers[ending]; read != nil {
			_, _ = read([]byte(text)) // nothing but not to panic is promised
		}
	})
}
