package main

import (
	"cmp"
	"database/sql"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"toolnorm/internal/store"
	"toolnorm/internal/test/must"
	"toolnorm/internal/test/odd"
	"toolnorm/internal/test/storetest"
)

// oddHome is the folder of a user with odd members of every kind among good ones.
type oddHome struct {
	*testing.T
	r        *rand.Rand
	data     string
	args     []string // of the program
	whys     []string
	settings string // a good file of settings
}

// oddReaders are the readers of the program: put writes odd members among good ones, and works
// checks in the running program that every good one works. One that is told of in the log says how.
var oddReaders = []struct {
	name string
	put  func(h *oddHome)
	work func(h *oddHome, m *Main)
	told string
}{
	{"keys", (*oddHome).putKeys, (*oddHome).keysWork, "keys, line"},
	{"families", (*oddHome).putFamilies, (*oddHome).familiesWork, "model families in"},
	{"connections", (*oddHome).putConnections, (*oddHome).connectionsWork, "the connection odd0 cannot be used"},
	{"servers and their tools", (*oddHome).putServers, (*oddHome).serversWork, `"mcp_server"`},
	{"rows of tools", (*oddHome).putTools, (*oddHome).toolsWork, ""},
	{"rows of a knowledge base", (*oddHome).putRows, (*oddHome).rowsWork, "knowledge base: the row"},
	{"files and pages", (*oddHome).putNothing, (*oddHome).filesWork, ""},
	{"settings", (*oddHome).putNothing, (*oddHome).settingsStay, "the settings could not be reloaded"},
}

// TestOneOddThingTakesNothingElseDown holds the law for every reader of the program at once. The
// last seeds are held out.
func TestOneOddThingTakesNothingElseDown(t *testing.T) {
	seeds := []uint64{1, 2, 3, 4, 1_000_003, 1_000_004}
	if n, _ := strconv.ParseUint(os.Getenv("TOOLNORM_ODD"), 10, 64); n > 0 { // so many of others
		seeds = nil
		for i := range n {
			seeds = append(seeds, 5_000_000+i)
		}
	}
	if testing.Short() {
		seeds = []uint64{1, 1_000_003}
	}
	for _, seed := range seeds {
		t.Run(fmt.Sprint(seed), func(t *testing.T) { oneOddHome(t, seed) })
	}
}

// oneOddHome is the test of one seed.
func oneOddHome(t *testing.T, seed uint64) {
	h := &oddHome{T: t, r: odd.New(seed), data: t.TempDir(), settings: "model: demo/good\nalias: {mine: demo/good}\n"}
	path := clean(t, h.settings)
	h.args = []string{"--listen=127.0.0.1:0", "--config", path, "--data", h.data, "--sample=never"}
	first := must.Have(started(t, io.Discard, h.args...))(t) // which makes the tables
	first.Close()
	for _, reader := range oddReaders {
		reader.put(h)
	}
	out := new(log)
	m, err := started(t, out, h.args...)
	if err != nil {
		t.Fatalf("%q: %v", h.whys, err)
	}
	for _, reader := range oddReaders {
		t.Run(reader.name, func(t *testing.T) {
			in := *h
			in.T = t
			reader.work(&in, m)
			if !strings.Contains(out.String(), reader.told) {
				t.Errorf("the log does not tell of it: %s", out)
			}
		})
	}
	if t.Failed() {
		t.Logf("odd: %q\n%.5000s", h.whys, out)
	}
}

// among puts n odd members among good ones.
func (h *oddHome) among(good []string, n int, make func(i int) (why, text string)) []string {
	all := slices.Clone(good)
	for i := range n {
		why, text := make(i)
		h.whys = append(h.whys, why)
		all = slices.Insert(all, h.r.IntN(len(all)+1), text)
	}
	return all
}

// write writes a file of the data folder.
func (h *oddHome) write(name string, text []byte) {
	h.Helper()
	path := filepath.Join(h.data, name)
	must.OK(h, os.MkdirAll(filepath.Dir(path), 0o700))
	must.Write(h, path, text)
}

// ask sends a request with a good key.
func (h *oddHome) ask(m *Main, method, path, body string) (int, string) {
	h.Helper()
	resp, text := must.Ask(h, method, m.URL()+path, body, "Authorization: Bearer "+goodKeys[0],
		"Content-Type: application/json", "Accept: application/json", "Toolnorm-Admin: 1", "Origin: "+m.URL())
	return resp.StatusCode, text
}

// call calls a tool over MCP.
func (h *oddHome) call(m *Main, name, args string) string {
	h.Helper()
	_, body := h.ask(m, "POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":`+args+`}}`)
	var reply struct {
		Result struct{ Content []struct{ Text string } }
	}
	if err := json.Unmarshal([]byte(body), &reply); err != nil || len(reply.Result.Content) == 0 {
		return body
	}
	return reply.Result.Content[0].Text
}

// goodKeys are in the file of keys.
var goodKeys = []string{"sk-good-key-0123456789", "sk-good-key-abcdefghij", "sk-good-key-9876543210"}

func (h *oddHome) putKeys() {
	lines := h.among(goodKeys, 6, func(int) (string, string) { return odd.Line(h.r, "label of a key that nobody has") })
	h.write("keys", []byte(strings.Join(append(lines, "short"), "\n")))
	h.args = append(h.args, "--api-keys-file", filepath.Join(h.data, "keys"))
}

func (h *oddHome) keysWork(m *Main) {
	for _, key := range goodKeys {
		if got := status(h.T, m.URL()+"/v1/models", key); got != 200 {
			h.Errorf("%s: %d", key, got)
		}
	}
	if got := status(h.T, m.URL()+"/v1/models", "short"); got != 401 {
		h.Errorf("an odd key: %d", got)
	}
}

// goodFamily is a family of the user's own.
const goodFamily = "format  good\nmodels  good*\ncall    <good>{call}</good>\n"

func (h *oddHome) putFamilies() {
	h.write("families/good.txt", []byte(goodFamily))
	for i := range 6 {
		why, text := odd.File(h.r, []byte(strings.ReplaceAll(goodFamily, "good", fmt.Sprintf("odd%d", i))))
		h.whys = append(h.whys, "family "+why)
		h.write(fmt.Sprintf("families/odd%d.txt", i), text)
	}
	h.write("families/wrong.txt", []byte("nonsense\n"))
	must.OK(h, os.Mkdir(filepath.Join(h.data, "families", "folder.txt"), 0o700))
}

func (h *oddHome) familiesWork(m *Main) {
	for _, model := range []string{"demo/good", "demo/hermes"} {
		body := `{"model":"` + model + `","messages":[{"role":"user","content":"Weather in \"Oslo\"?"}],"tool_choice":"required","tools":[{"type":"function","function":{"name":"get_weather","parameters":{"type":"object","properties":{"city":{"type":"string"}},"required":["city"]}}}]}`
		if code, got := h.ask(m, "POST", "/v1/chat/completions", body); code != 200 || !strings.Contains(got, `"finish_reason":"tool_calls"`) {
			h.Errorf("%s: %d %s", model, code, got)
		}
	}
}

func (h *oddHome) putConnections() {
	path := filepath.Join(h.data, "crm.db")
	db := storetest.Open(h, path)
	must.Have(db.ExecContext(h.Context(), "CREATE TABLE deals (name TEXT); INSERT INTO deals VALUES ('big')"))(h)
	h.args = append(h.args, "--connection=crm="+path, "--connection=odd0=relative.db", "--connection=odd1=env:NO_SUCH_VARIABLE", "--connection=odd 2="+path, "--connection=odd3="+path+".gone")
	for i := range 5 {
		why, text := odd.File(h.r, []byte(strings.Repeat("SQLite format 3\x00 and more", 200)))
		h.whys = append(h.whys, "connection to a file "+why)
		h.write(fmt.Sprintf("odd%d.db", i), text)
		h.args = append(h.args, fmt.Sprintf("--connection=file%d=%s", i, filepath.Join(h.data, fmt.Sprintf("odd%d.db", i))))
	}
}

func (h *oddHome) connectionsWork(m *Main) {
	tool := `{"name":"deals","description_agent":"d","tool_type":"SQL","definition":"SELECT name FROM deals","is_active":true,"options":{"connection":"crm"}}`
	if code, body := h.ask(m, "POST", "/admin/api/tools", tool); code != 201 {
		h.Errorf("a tool of the good connection: %d %s", code, body)
	}
	if got := h.call(m, "deals", "{}"); !strings.Contains(got, "big") {
		h.Errorf("it says %s", got)
	}
	_, body := h.ask(m, "GET", "/admin/api/schema", "")
	for _, want := range []string{`"name":"odd0"`, `"error":"the connection odd0 cannot be used`, `"name":"crm"`} {
		if !strings.Contains(body, want) {
			h.Errorf("the connections lack %s: %s", want, body)
		}
	}
}

// goodTool is a tool of another MCP server.
const goodTool = `{"name":"NAME","description":"d","inputSchema":{"type":"object","properties":{"a":{"type":"string"}}}}`

func (h *oddHome) putServers() {
	var tools []string
	for i := range 5 {
		tools = append(tools, strings.Replace(goodTool, "NAME", fmt.Sprint("good", i), 1))
	}
	tools = h.among(tools, 5, func(i int) (string, string) {
		why, text := odd.Member(h.r, strings.Replace(goodTool, "NAME", fmt.Sprint("odd", i), 1))
		return "tool " + why, text
	})
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var ask struct {
			ID     json.RawMessage
			Method string
		}
		if json.NewDecoder(r.Body).Decode(&ask) != nil || ask.ID == nil {
			w.WriteHeader(http.StatusAccepted)
			return
		}
		result := map[string]string{
			"initialize": `{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"raw","version":"1"}}`,
			"tools/list": `{"tools":[` + strings.Join(tools, ",") + `]}`, "tools/call": `{"content":[{"type":"text","text":"it works"}]}`,
		}[ask.Method]
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":%s}`, ask.ID, cmp.Or(result, "{}"))
	}))
	h.Cleanup(other.Close)
	good := `{"name":"other","url":"` + other.URL + `/mcp"}`
	entries := h.among([]string{good}, 5, func(i int) (string, string) {
		why, text := odd.Member(h.r, fmt.Sprintf(`{"name":"odd%d","command":"/no/such/program","args":["a"],"env":{"A":"b"}}`, i))
		return "entry " + why, text
	})
	h.write("mcp.json", []byte("// mine\n["+strings.Join(append(entries, "7"), ",")+",]"))
	h.args = append(h.args, "--mcp-file", filepath.Join(h.data, "mcp.json"))
}

func (h *oddHome) serversWork(m *Main) {
	for i := range 5 {
		eventually(h.T, "the good server is never there", func() bool { return h.call(m, fmt.Sprint("other.good", i), "{}") == "it works" })
	}
}

func (h *oddHome) putTools() {
	db := h.open("db/mcp_data.db")
	defer db.Close()
	for i := range 20 {
		h.insert(db, "h_custom_tool", 1, 1000+2*i, fmt.Sprint("good_", i), "good", "", "PYTHON", fmt.Sprint(i, " + 1"), "Y", "", "")
		row := []any{1001 + 2*i, fmt.Sprint("odd_", i), "odd", "", "PYTHON", "1", "Y", "", ""}
		at := 1 + h.r.IntN(len(row)-1)
		h.whys = append(h.whys, fmt.Sprint("tool row, column ", at))
		_, row[at] = odd.Column(h.r)
		h.insert(db, "h_custom_tool", 0, row...)
	}
}

func (h *oddHome) toolsWork(m *Main) {
	for i := range 20 {
		if got := h.call(m, fmt.Sprint("good_", i), "{}"); got != fmt.Sprint(i+1) {
			h.Errorf("good_%d says %s", i, got)
		}
	}
	if code, body := h.ask(m, "GET", "/admin/api/tools", ""); code != 200 || !strings.Contains(body, `"problem":`) {
		h.Errorf("the tools are listed as %d, without a problem: %.2000s", code, body)
	}
}

// The two knowledge bases: rows stand in one, files are imported into the other.
const (
	rowsBase  = "11111111-1111-4111-8111-111111111111"
	filesBase = "22222222-2222-4222-8222-222222222222"
)

func (h *oddHome) putRows() {
	db := h.open("db/knowledge.db")
	defer db.Close()
	base := []any{rowsBase, "Rows", "", "", 2, "2026-01-01T00:00:00Z", "2026-01-01T00:00:00Z"}
	h.insert(db, "knowledge_bases", 1, base...)
	h.insert(db, "knowledge_bases", 1, filesBase, "Files", "", "", 2, "", "")
	h.insert(db, "collections", 1, "c", rowsBase, "c", "", "", nil)
	for i := range 20 {
		document := func(id string) []any { return []any{id, "c", 1, "", 0, "T", id, "x", "", "", nil, 2, ""} }
		passage := func(id, text string) []any { return []any{"k" + id, id, 0, "", text, "", nil} }
		id := fmt.Sprint("good-", i)
		h.insert(db, "documents", 1, document(id)...)
		h.insert(db, "document_departments", 1, id, "")
		h.insert(db, "chunks", 1, passage(id, fmt.Sprint("the word of this passage is zebra", i))...)
		id = fmt.Sprint("odd-", i)
		for table, row := range map[string][]any{"knowledge_bases": slices.Clone(base), "documents": document(id), "document_departments": {id, ""}, "chunks": passage(id, "zebra")} {
			if table == "knowledge_bases" {
				row[0] = fmt.Sprintf("33333333-3333-4333-8333-%012d", i)
			}
			at := h.r.IntN(len(row))
			h.whys = append(h.whys, fmt.Sprint(table, " row, column ", at))
			_, row[at] = odd.Column(h.r)
			h.insert(db, table, 0, row...)
		}
	}
}

func (h *oddHome) rowsWork(m *Main) {
	for i := range 20 {
		if got := h.call(m, "search_documents", fmt.Sprintf(`{"knowledge_base_id":"%s","query":"zebra%d","threshold":0}`, rowsBase, i)); !strings.Contains(got, fmt.Sprint("passage is zebra", i)) {
			h.Errorf("zebra%d: %.500s", i, got)
		}
	}
	if got := h.call(m, "get_knowledge_base_summary", `{"knowledge_base_id":"`+rowsBase+`"}`); !strings.Contains(got, "total_documents") {
		h.Errorf("the summary: %s", got)
	}
	if code, body := h.ask(m, "GET", "/admin/api/knowledge-bases/"+rowsBase, ""); code != 200 || !strings.Contains(body, `"left_out":[`) {
		h.Errorf("the base is shown as %d, without what is left out: %.2000s", code, body)
	}
}

func (h *oddHome) putNothing() {}

// filesWork imports files, and a PDF of good and odd pages.
func (h *oddHome) filesWork(m *Main) {
	send := func(name string, data []byte) (int, string) {
		body := fmt.Sprintf(`{"name":%q,"data":%q}`, name, base64.StdEncoding.EncodeToString(data))
		return h.ask(m, "POST", "/admin/api/knowledge-bases/"+filesBase+"/documents", body)
	}
	for i := range 4 {
		for _, ending := range []string{".md", ".html", ".pdf", ".txt"} {
			text := fmt.Sprintf("The word of this %s is quagga%d", ending[1:], i)
			good := []byte("# Word\n\n" + text + ".\n")
			if ending == ".pdf" {
				good = odd.PDF(h.r, "", text, "")
			}
			if code, body := send(fmt.Sprint("good", i, ending), good); code != 201 && code != 200 || !strings.Contains(body, "imported") {
				h.Errorf("good%d%s: %d %s", i, ending, code, body)
			}
			why, hurt := odd.File(h.r, good)
			if code, body := send(fmt.Sprint("odd", i, ending), hurt); code >= 500 {
				h.Errorf("%s %s: %d %s", ending, why, code, body)
			}
		}
		got := h.call(m, "search_documents", fmt.Sprintf(`{"knowledge_base_id":"%s","query":"quagga%d","threshold":0,"max_results":20}`, filesBase, i))
		for _, ending := range []string{".md", ".html", ".pdf", ".txt"} {
			if !strings.Contains(got, fmt.Sprintf("this %s is quagga%d", ending[1:], i)) {
				h.Errorf("quagga%d of %s: %.1000s", i, ending, got)
			}
		}
	}
}

// settingsStay writes odd settings while the program runs: those in force stay, and the log names
// the file.
func (h *oddHome) settingsStay(m *Main) {
	path := m.given.file.path
	for range 10 {
		why, text := odd.File(h.r, []byte(h.settings+"trace: 20\n"))
		must.Write(h, path, text)
		err := m.Reload() // some odd files are good ones
		if err != nil && !strings.Contains(err.Error(), "settings.yaml") {
			h.Errorf("%s: %v does not name the file", why, err)
		}
		if got := status(h.T, m.URL()+"/v1/models", goodKeys[1]); got != 200 {
			h.Errorf("behind settings %s: %d", why, got)
		}
	}
	must.Write(h, path, h.settings+"nonsense: 7\n")
	if err := m.Reload(); err == nil {
		h.Error("wrong settings are taken")
	}
	h.familiesWork(m)
}

// open opens a database of the data folder.
func (h *oddHome) open(name string) *store.DB {
	h.Helper()
	return storetest.Open(h, filepath.Join(h.data, name))
}

// insert writes a row as another program would, which keeps no rule of the tables. A row that must
// be there is good.
func (h *oddHome) insert(db *store.DB, table string, wanted int, row ...any) {
	h.Helper()
	conn := must.Have(db.Conn(h.Context()))(h)
	defer conn.Close()
	places := make([]string, len(row))
	for i := range row {
		places[i] = fmt.Sprintf("$%d", i+1)
	}
	query := "INSERT INTO " + table + " VALUES (" + strings.Join(places, ", ") + ")"
	if _, err := execLoosely(h, conn, query, row); err != nil && wanted > 0 {
		h.Fatalf("%s: %v", query, err)
	}
}

// execLoosely writes without looking at foreign keys.
func execLoosely(h *oddHome, conn *sql.Conn, query string, row []any) (sql.Result, error) {
	must.Have(conn.ExecContext(h.Context(), "PRAGMA foreign_keys = OFF; PRAGMA ignore_check_constraints = ON"))(h)
	return conn.ExecContext(h.Context(), query, row...)
}
