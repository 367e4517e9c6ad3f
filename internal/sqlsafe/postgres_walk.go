package sqlsafe

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// walk checks the tree of a statement. postgres_grammar.txt lists what each kind of node may
// contain, so additions of a later PostgreSQL are refused until somebody adds them there. The
// checking methods return nil for what is allowed.
type walk struct {
	sql   string
	words []token
	more  map[string]bool // allowed functions besides the listed ones

	values int // the number of bound parameters; a higher number is refused

	mentions // the names to ask the server about
	lengths  []span
}

// statement returns a refusal unless the topmost node is a SELECT of allowed parts. Because WITH …
// INSERT may be inside a SelectStmt, all nodes below are checked as well.
func (w *walk) statement(node map[string]any) *Refusal {
	if _, ok := node["SelectStmt"]; !ok {
		for kind := range node {
			return refuse(w.sql, 0, "only SELECT statements are allowed; this is %s",
				kindInWords(kind))
		}
		return refuse(w.sql, -1, "there is no statement")
	}
	if r := w.node(node, 0); r != nil {
		return r
	}
	w.settle()
	return nil
}

// kindInWords returns the kind of a statement in the words of SQL, for example CREATE TABLE AS for
// CreateTableAsStmt.
func kindInWords(kind string) string {
	var b strings.Builder
	for i, c := range strings.TrimSuffix(kind, "Stmt") {
		if i > 0 && c >= 'A' && c <= 'Z' {
			b.WriteByte(' ')
		}
		b.WriteRune(c)
	}
	return strings.ToUpper(b.String())
}

// node returns a refusal if a node {"Kind": {…}} is not allowed. In JSON, a node is an object whose
// only key is its kind, such as {"ColumnRef":{"fields":[…]}}. An empty object is allowed, since it
// means that something is absent, for example the column definitions of a function.
func (w *walk) node(node map[string]any, at int) *Refusal {
	for kind, body := range node {
		inside, ok := body.(map[string]any)
		if !ok {
			return refuse(w.sql, at, "the statement has a part that is not known here, %s", kind)
		}
		if r := w.kind(kind, inside, at); r != nil {
			return r
		}
	}
	return nil
}

// kind returns a refusal if a node of a known kind is not allowed. It checks all members of the
// node, and further rules for that kind. The parameter at is the location of the nearest node above
// it that has one. A location is a byte offset in the statement; most nodes have none.
func (w *walk) kind(kind string, node map[string]any, at int) *Refusal {
	if n, ok := node["location"].(float64); ok && n >= 0 {
		at = int(n)
	}
	// bind wrote $1 for a value that is sent apart from the text.
	if n, ok := node["number"].(float64); kind == "ParamRef" && ok && n >= 1 && int(n) <= w.values {
		return nil
	}
	if kind == "SelectStmt" && node["withClause"] != nil {
		return w.selectWith(node, at)
	}
	known, ok := postgresGrammar()[kind]
	if !ok {
		return refuse(w.sql, at, "a SELECT may not hold %s",
			cmp.Or(sayings[kind], kindInWords(kind)))
	}
	for _, name := range slices.Sorted(maps.Keys(node)) {
		of, ok := known[name]
		if !ok {
			return refuse(w.sql, at, "a SELECT may not have %s", cmp.Or(sayings[name], name))
		}
		if r := w.member(of, node[name], at); r != nil {
			return r
		}
	}
	w.note(kind, node, at)
	switch kind {
	case "FuncCall":
		return w.function(node, at)
	case "RangeVar":
		return w.relation(node, at)
	// Any function may be a sampling method, so the list of functions would not help here.
	case "RangeTableSample":
		if name := dotNames(node["method"]); name != "system" && name != "bernoulli" {
			return refuse(w.sql, at, "TABLESAMPLE knows SYSTEM and BERNOULLI here, not %s", name)
		}
	case "TypeName", "ColumnRef", "A_Indirection": // (10::oid).regrole means 10::regrole
		all := slices.Concat(parts(node["names"]), parts(node["fields"]),
			parts(node["indirection"]))
		if slices.Contains(all, "regrole") {
			return refuse(w.sql, at, "the type regrole tells of other roles, and may not be used")
		}
	}
	return w.qualified(node, at)
}

// operatorNames are the members that name an operator, as in a + b, = ANY (SELECT …) and ORDER BY …
// USING.
var operatorNames = []string{"name", "operName", "useOp"}

// qualified refuses an operator of a schema other than pg_catalog, such as OPERATOR(public.+),
// wherever an operator may be used, because it calls a function that somebody has created in that
// schema.
func (w *walk) qualified(node map[string]any, at int) *Refusal {
	for _, member := range operatorNames {
		schema, _, qualified := strings.Cut(dotNames(node[member]), ".")
		if qualified && schema != "pg_catalog" && schema != "" {
			return refuse(w.sql, at, "operators of the schema %s may not be used", schema)
		}
	}
	return nil
}

// parts returns the texts of a list of names. An element that is not a name, such as *, becomes "".
func parts(list any) (all []string) {
	names, _ := list.([]any)
	for _, one := range names {
		node, _ := one.(map[string]any)
		text, _ := node["String"].(map[string]any)
		part, _ := text["sval"].(string)
		all = append(all, part)
	}
	return all
}

// sayings maps parts of a tree to the words that messages use.
var sayings = map[string]string{
	"intoClause":    "INTO, which makes a table",
	"lockingClause": "FOR UPDATE or FOR SHARE, which lock rows",
	"ParamRef":      "parameters ($1); write the values",
	"InsertStmt":    "INSERT", "UpdateStmt": "UPDATE", "DeleteStmt": "DELETE", "MergeStmt": "MERGE",
	"XmlExpr": "XML functions", "XmlSerialize": "XML functions",
	"RangeTableFunc": "XMLTABLE", "SetToDefault": "DEFAULT", "CurrentOfExpr": "CURRENT OF",
}

// member returns a refusal if a member of a node has a value that is not allowed. The value may be
// a node of the given kind, a node that names its own kind, a list of either, or a plain value.
// Plain values (texts, numbers, names of enumerations) are harmless and not checked.
func (w *walk) member(kind string, value any, at int) *Refusal {
	switch v := value.(type) {
	case map[string]any:
		if kind != "" {
			return w.kind(kind, v, at)
		}
		return w.node(v, at)
	case []any:
		for _, one := range v {
			if r := w.member(kind, one, at); r != nil {
				return r
			}
		}
	}
	return nil
}

// dotNames returns a list of names as SQL writes it, for example schema.name.
func dotNames(list any) string {
	return strings.Join(parts(list), ".")
}

// function checks a call of a function. It refuses functions that are neither listed nor allowed by
// the setting sql-functions, and arguments that could make a huge text. Functions that SQL's own
// syntax calls (EXTRACT, AT TIME ZONE) are in pg_catalog. Functions in FROM are checked as well,
// because they are called too, which other servers have overlooked.
func (w *walk) function(call map[string]any, at int) *Refusal {
	full := dotNames(call["funcname"])
	name := strings.TrimPrefix(full, "pg_catalog.")
	if !w.more[full] && !postgresFunctions()[name] {
		return refuse(w.sql, at, "%s is not among the functions that may be called", full)
	}
	if full == "current_schema" {
		w.names = append(w.names, nameAt(nameSchema, full, at, false))
	} else {
		w.names = append(w.names, nameAt(nameFunction, full, at, !strings.Contains(full, ".") &&
			hasLocation(call)))
	}
	args, _ := call["args"].([]any)
	if ofTables[name] && len(args) > 0 {
		w.tableText(args[0])
	}
	switch {
	case name == "format" && (len(args) == 0 || !plainFormat(args[0])):
		return refuse(w.sql, at,
			"format needs a text as it is in front, and a width of at most two digits in it")
	case strings.HasPrefix(name, "has_") && strings.HasSuffix(name, "_privilege") &&
		len(args) > mostOwn(name):
		return refuse(w.sql, at, "%s tells of the own role alone; leave the role out", name)
	case name == "polygon" && len(args) > 1:
		return refuse(w.sql, at,
			"polygon makes as many points as it is told, and may have one argument")
	case !filling[name]:
		return nil
	}
	if len(args) < 2 {
		return refuse(w.sql, at, "%s needs a length", name)
	}
	if n, ok := constantNumber(args[1]); ok && n > longestFill {
		return refuse(w.sql, at, "%s needs a length of at most %d", name, longestFill)
	} else if ok {
		return nil
	}
	length, ok := w.argument(at, 1, len(args))
	if !ok || !hasLocation(call) {
		return refuse(w.sql, at, "%s needs a length that is a number of at most %d", name,
			longestFill)
	}
	w.lengths = append(w.lengths, length)
	return nil
}

// mostOwn returns how many arguments the function with the given name has if it asks about the
// rights of the current role, for example 2 for has_table_privilege.
func mostOwn(name string) int {
	if name == "has_column_privilege" {
		return 3
	}
	return 2
}

// span is a part of a statement's text, from From up to To.
type span struct{ From, To int }

// argument returns the part of the text that is the n-th argument of a call, counted from 0. The
// parameter at is the offset of the call, and of is the number of its arguments. ok is false if the
// argument cannot be located.
func (w *walk) argument(at, n, of int) (where span, ok bool) {
	depth, number := 0, 0
	for _, t := range w.words {
		switch {
		case t.at < at || depth == 0 && t.text != "(":
			continue
		case depth == 1 && t.text == ")":
			return where, number+1 == of && where.To > where.From
		case depth == 1 && t.text == ",":
			number++
			continue
		}
		if depth > 0 && number == n {
			if where.To == 0 {
				where.From = t.at
			}
			where.To = t.at + len(t.text)
		}
		switch t.text {
		case "(", "[":
			depth++
		case ")", "]":
			depth--
		}
	}
	return where, false
}

// filling are the functions that make, in one step, a text whose length is their second argument.
// For example, repeat('x', 1000000000) takes a gigabyte of the server's memory before any limit of
// the result applies.
var filling = map[string]bool{"repeat": true, "lpad": true, "rpad": true}

// longestFill is the length of the longest text that these functions may make. A length that is not
// a constant is limited by a function call that is added to the statement.
const longestFill = 10_000

// wideFormat matches a conversion of format whose width is large or comes from an argument.
var wideFormat = regexp.MustCompile(`%(\d+\$)?-?(\*|\d{3,}[^$\d])`)

// plainFormat reports whether a node is a constant format text that pads no value to a large width.
// Formatting a value with '%900000000s' makes a gigabyte.
func plainFormat(node any) bool {
	pattern, ok := constantText(node)
	return ok && !wideFormat.MatchString(pattern)
}

// relation checks the name of a table. Names that begin with pg_ belong to the server, as schemas
// (pg_temp, pg_toast) or as tables that show more than data (pg_authid), so most of them are
// refused.
func (w *walk) relation(node map[string]any, at int) *Refusal {
	schema, _ := node["schemaname"].(string)
	w.aliases = append(w.aliases, node["relname"])
	table, _ := node["relname"].(string)
	switch {
	case node["catalogname"] != nil:
		return refuse(w.sql, at, "tables of other databases (%s.%s.%s) cannot be read",
			node["catalogname"], schema, table)
	case schema == "pg_catalog" || strings.HasPrefix(table, "pg_"):
		if !postgresCatalogs()[table] || schema != "" && schema != "pg_catalog" {
			return refuse(w.sql, at,
				"%s is not among the catalogs that may be read; information_schema shows what the role may see", table)
		}
	case strings.HasPrefix(schema, "pg_"):
		return refuse(w.sql, at, "the schema %s may not be read", schema)
	case schema != "":
		w.names = append(w.names, nameAt(nameTable, pgx.Identifier{schema, table}.Sanitize(), at,
			false))
	case !slices.ContainsFunc(w.with, func(seen map[string]bool) bool { return seen[table] }):
		w.names = append(w.names, nameAt(nameTable, pgx.Identifier{table}.Sanitize(), at,
			hasLocation(node)))
	}
	return nil
}
