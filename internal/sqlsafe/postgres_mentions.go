package sqlsafe

import (
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// mentions holds the names in a statement that the check of its tree finds. The server is asked
// later what they mean.
type mentions struct {
	names []name
	// the visible names of WITH, for each SELECT that encloses the current node
	with []map[string]bool
	// maps the aliases of functions in FROM to the columns that they name
	series map[string][]string
	points []point // columns with a qualifier

	// The following fields are needed for casts that the database's owner has defined, which apply
	// to rows or columns of certain types.
	mentioned []string // the names of columns
	alone     []string // names without a dot, which may stand for rows
	aliases   []any    // the aliases and names of tables
	stars     int      // how often * is used, except where a SELECT outputs the columns unchanged
	starred   bool     // whether * is used at all
	arrays    bool     // whether an array is constructed
	selects   int
}

// point is a column with a qualifier, like u.name.
type point struct {
	of, name string
	at       int
}

// settle records the names in a statement whose meaning depends on other parts of it. It must be
// called after all nodes of the statement were visited.
func (w *walk) settle() {
	for _, p := range w.points {
		kind := nameField
		// The row of a function that gives single values is the value: x.pg_sleep calls.
		if columns, ok := w.series[p.of]; ok && !slices.Contains(columns, p.name) {
			kind = nameDot
		}
		w.behindPoint(kind, p.name, p.at)
	}
	if w.stars > 0 || slices.ContainsFunc(w.alone, func(one string) bool {
		return slices.Contains(w.aliases, any(one))
	}) {
		w.names = append(w.names, nameAt(nameRow, "yes", -1, false))
	}
	if w.stars > 0 || w.starred && w.selects > 1 {
		w.mentioned = append(w.mentioned, "*")
	}
	if w.arrays {
		w.names = append(w.names, nameAt(nameArray, "yes", -1, false))
	}
	for _, one := range w.mentioned {
		w.names = append(w.names, nameAt(nameMention, one, -1, false))
	}
}

// column records a column, or a name that may be a column.
func (w *walk) column(node map[string]any, at int) {
	all := parts(node["fields"])
	last := all[len(all)-1]
	switch {
	case last == "":
		w.stars++
		w.starred = true
		return
	case len(all) > 1:
		w.points = append(w.points, point{all[len(all)-2], last, at})
	default:
		w.alone = append(w.alone, last)
	}
	w.mentioned = append(w.mentioned, last)
}

// plainName matches a name that needs no quotes.
var plainName = regexp.MustCompile(`^[a-z_][a-z0-9_]*$`)

// regclass records the table that a cast such as 'users'::regclass names, because the server looks
// that text up in the search path.
func (w *walk) regclass(node map[string]any) {
	of, _ := node["typeName"].(map[string]any)
	if all := parts(of["names"]); len(all) > 0 && all[len(all)-1] == "regclass" {
		w.tableText(node["arg"])
	}
}

// tableText records the table that a text constant names.
func (w *walk) tableText(node any) {
	object, _ := node.(map[string]any)
	constant, _ := object["A_Const"].(map[string]any)
	table, _ := constantText(node)
	at, _ := constant["location"].(float64)
	if plainName.MatchString(table) && w.sql[int(at)] == '\'' {
		w.names = append(w.names, nameAt(nameTable, pgx.Identifier{table}.Sanitize(), int(at)+1,
			true))
	}
}

// ofTables are the functions whose first argument may be the name of a table as a text.
var ofTables = lowerNames(strings.Fields(`has_table_privilege has_column_privilege to_regclass
	pg_relation_size pg_table_size pg_indexes_size pg_total_relation_size obj_description col_description`))

// selectWith checks a SELECT with a WITH clause, and makes the names that the clause defines
// visible. Inside its own SELECT such a name still means the table with that name, unless the
// clause is RECURSIVE. It returns nil if the SELECT may be run.
func (w *walk) selectWith(node map[string]any, at int) *Refusal {
	with, ok := node["withClause"].(map[string]any)
	if !ok {
		return refuse(w.sql, at, "the statement has a part that is not known here, WITH")
	}
	seen := map[string]bool{}
	w.with = append(w.with, seen)
	defer func() { w.with = w.with[:len(w.with)-1] }()
	all, _ := with["ctes"].([]any)
	for _, one := range all {
		if with["recursive"] == true {
			seen[cteName(one)] = true
		}
	}
	for _, one := range all {
		if r := w.member("", one, at); r != nil {
			return r
		}
		seen[cteName(one)] = true
	}
	rest := maps.Clone(with)
	delete(rest, "ctes")
	if r := w.kind("WithClause", rest, at); r != nil {
		return r
	}
	node = maps.Clone(node)
	delete(node, "withClause")
	return w.kind("SelectStmt", node, at)
}

// cteName returns the name of a part of WITH, or "" if the node is no such part.
func cteName(one any) string {
	node, _ := one.(map[string]any)
	cte, _ := node["CommonTableExpr"].(map[string]any)
	text, _ := cte["ctename"].(string)
	return text
}

// note records the names in a node whose meaning only the server knows, such as those of types.
func (w *walk) note(kind string, node map[string]any, at int) {
	switch kind {
	case "TypeName":
		if all := parts(node["names"]); len(all) > 0 && all[0] != "pg_catalog" {
			w.names = append(w.names, name{nameType, pgx.Identifier(all).Sanitize(), at,
				len(all) == 1 && hasLocation(node)})
		}
	case "A_Indirection":
		for _, one := range parts(node["indirection"]) {
			if one != "" {
				w.behindPoint(nameDot, one, at)
			}
		}
	case "ColumnRef":
		w.column(node, at)
	case "ResTarget":
		value, _ := node["val"].(map[string]any)
		column, _ := value["ColumnRef"].(map[string]any)
		if slices.Contains(parts(column["fields"]), "") {
			w.stars--
		}
	case "TypeCast":
		w.regclass(node)
	case "Alias":
		w.aliases = append(w.aliases, node["aliasname"])
		w.stars += len(parts(node["colnames"])) // columns with new names
	case "CommonTableExpr":
		w.stars += len(parts(node["aliascolnames"]))
	case "JoinExpr":
		w.mentioned = append(w.mentioned, parts(node["usingClause"])...)
		if node["isNatural"] == true {
			w.stars++
		}
		w.operators(at, "=")
	case "A_ArrayExpr":
		w.arrays = true
	case "SelectStmt":
		w.selects++
	case "RangeFunction":
		w.rangeFunction(node)
	case "A_Expr":
		w.operators(at, parts(node["name"])...)
		if kind, _ := node["kind"].(string); strings.Contains(kind, "BETWEEN") {
			w.operators(at, "<", "<=", ">", ">=")
		}
	case "SubLink":
		w.arrays = w.arrays || node["subLinkType"] == "ARRAY_SUBLINK"
		w.operators(at, append(parts(node["operName"]), "=")...)
	case "SortBy":
		w.operators(at, parts(node["useOp"])...)
	case "CaseExpr":
		if node["arg"] != nil {
			w.operators(at, "=")
		}
	case "SQLValueFunction":
		if node["op"] == "SVFOP_CURRENT_SCHEMA" {
			w.names = append(w.names, name{nameSchema, "current_schema", at, false})
		}
	}
}

// operators records the signs of operators, such as =, so that the server is asked what they mean.
// From an operator that is written with its schema, as in OPERATOR(pg_catalog.=), pg_catalog is
// recorded as a sign too. That does no harm, because the server has no operator of that name.
func (w *walk) operators(at int, signs ...string) {
	for _, sign := range signs {
		w.names = append(w.names, name{nameOperator, sign, at, false})
	}
}

// hasLocation reports whether a node has a location.
func hasLocation(node map[string]any) bool { return node["location"] != nil }

// rangeFunction records the alias of functions in FROM, with the columns that it names. Without an
// alias, it records the names of the functions.
func (w *walk) rangeFunction(node map[string]any) {
	alias, _ := node["alias"].(map[string]any)
	of, _ := alias["aliasname"].(string)
	columns := parts(alias["colnames"])
	list, _ := node["coldeflist"].([]any)
	for _, one := range list {
		n, _ := one.(map[string]any)
		def, _ := n["ColumnDef"].(map[string]any)
		text, _ := def["colname"].(string)
		columns = append(columns, text)
	}
	if w.series == nil {
		w.series = map[string][]string{}
	}
	if before, ok := w.series[of]; ok { // the same name is used elsewhere in the statement
		columns = slices.DeleteFunc(columns, func(c string) bool {
			return !slices.Contains(before, c)
		})
	}
	if of != "" {
		w.series[of] = columns
		return
	}
	functions, _ := node["functions"].([]any)
	for _, one := range functions { // each is a list with the call and its columns
		n, _ := one.(map[string]any)
		list, _ := n["List"].(map[string]any)
		for _, inside := range list {
			calls, _ := inside.([]any)
			for _, one := range calls {
				call, _ := one.(map[string]any)
				f, _ := call["FuncCall"].(map[string]any)
				if all := parts(f["funcname"]); len(all) > 0 {
					w.series[all[len(all)-1]] = columns
				}
			}
		}
	}
}

// behindPoint records a name that follows a dot, such as id in x.id. It is a column of x, or a call
// of a function if there is no such column.
func (w *walk) behindPoint(kind, text string, at int) {
	w.names = append(w.names, name{nameColumn, text, at, false})
	if !postgresFunctions()[text] && !w.more[text] {
		w.names = append(w.names, name{kind, text, at, false})
	}
}
