package sqlsafe

import (
	"math"
	"slices"
	"strconv"
	"strings"
)

// PostgreSQL evaluates constant expressions while it plans, before any limit applies, and its
// planner assumes 32 bytes for every computed text. So this file estimates how wide the values of a
// statement become, from the statement alone. A column of a table counts little, since the planner
// knows its width better.

// mostMade is the most bytes that a statement may generate for the values of one row.
const mostMade = 1 << 20

// mostPlanned is the largest number of nodes that the server may have to plan. It takes some
// hundred bytes for each, and cannot be cancelled while it plans.
const mostPlanned = 50_000

const (
	columnWidth = 8    // the width of a column of a table, and of a number
	arrayFactor = 8    // how much wider an array is than the text that is split into it
	deepJSON    = 4096 // the width from which the number of levels in a JSON text matters
	// the most evaluations of WITH RECURSIVE: a width that doubles in each exceeds every bound by
	// then
	roundsOfWidth = 24
	// visits of nodes; only a WITH RECURSIVE inside a WITH RECURSIVE needs more
	mostVisits = 1_000_000
)

// widths estimates how many bytes the values of a statement may have. If the field nodes is true,
// it instead estimates how many nodes the statement has after the server has replaced each name
// with its subquery.
type widths struct {
	nodes  bool
	each   float64 // the number of values that an aggregate collects
	most   float64 // the width of the widest value or row so far
	size   float64 // the number of nodes of the last SELECT
	tables float64 // the number of tables so far
	visits int
}

// wide is a column, with the number of bytes that its widest value may have.
type wide struct {
	name  string
	bytes float64
}

// source is a table, a subquery or a function in the FROM clause of a SELECT.
type source struct {
	name    string
	columns []wide
	rest    float64 // the width of unknown columns
}

// A scope holds what the names in a SELECT stand for: parts of WITH, and what is in its FROM
// clause, with the widths of their columns.
type scope struct {
	outer *scope
	with  map[string][]wide
	// the numbers of nodes of the parts of WITH that the server inserts at each use
	sizes map[string]float64
	from  []source
	size  float64 // the number of nodes so far

	windows float64
}

// widest returns how many bytes the widest value of a statement may have. The parameter each is the
// number of values that an aggregate of the statement collects.
func widest(statement map[string]any, each float64) float64 {
	m := widths{each: max(1, each)}
	m.value(statement, &scope{})
	return m.most
}

// plannedNodes returns how many nodes the server has to plan for a statement.
func plannedNodes(statement map[string]any) float64 {
	m := widths{nodes: true}
	// every table may be joined with every other
	return m.value(statement, &scope{}) + 4*m.tables*m.tables
}

// value returns how many bytes the value of an expression may have. For an unknown expression, that
// is the sum for its parts. If a statement takes too many steps, m.most becomes infinite.
func (m *widths) value(v any, in *scope) (sum float64) {
	if m.visits++; m.visits > mostVisits {
		m.most = math.Inf(1)
		return 0
	}
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			sum += m.value(one, in)
		}
	case map[string]any:
		for kind, inside := range v {
			sum += m.node(kind, inside, in)
		}
	}
	m.most = max(m.most, sum)
	return sum
}

// node returns the width of a syntax node, which is how many bytes its value may have. The
// parameter kind is the node's type. A member of a node has no type of its own, so kind is then the
// member's name. If m.nodes is true, the result is instead the number of nodes that the server
// plans (see sized). node never fails: for an unknown kind it returns the sum of the node's parts.
func (m *widths) node(kind string, v any, in *scope) float64 {
	node, ok := v.(map[string]any)
	if !ok {
		return m.value(v, in)
	}
	if m.nodes {
		return m.sized(kind, node, in)
	}
	switch kind {
	case "SelectStmt":
		return total(m.query(node, in))
	case "A_Const":
		text, _ := node["sval"].(map[string]any)
		s, _ := text["sval"].(string)
		return max(columnWidth, float64(len(s)))
	case "ColumnRef":
		return in.column(parts(node["fields"]))
	case "FuncCall":
		return m.call(node, in)
	case "A_Expr":
		return m.operator(node, in)
	case "SubLink":
		width := m.value(node, in)
		if node["subLinkType"] == "ARRAY_SUBLINK" {
			return m.collected(width)
		}
		return width
	case "JsonArrayAgg", "JsonObjectAgg":
		return m.collected(m.value(node, in))
	case "TypeCast":
		return max(m.value(node["arg"], in), padWidth(node["typeName"]))
	case "CaseExpr":
		m.value(node["arg"], in)
		most := m.value(node["defresult"], in)
		args, _ := node["args"].([]any)
		for _, one := range args {
			when, _ := one.(map[string]any)
			inside, _ := when["CaseWhen"].(map[string]any)
			m.value(inside["expr"], in)
			most = max(most, m.value(inside["result"], in))
		}
		return most
	case "CoalesceExpr", "MinMaxExpr":
		return slices.Max(append(m.each1(node["args"], in), 0))
	case "BoolExpr", "NullTest", "BooleanTest":
		m.value(node, in)
		return columnWidth
	case "TypeName":
		return 0
	}
	return m.value(node, in)
}

// sized returns how many nodes the server plans for a node of a statement and the nodes below it.
// For example, it plans CUBE of n columns as 2^n groupings.
func (m *widths) sized(kind string, node map[string]any, in *scope) float64 {
	switch {
	case kind == "SelectStmt":
		m.query(node, in)
		return m.size
	case kind == "ColumnRef":
		return in.column(parts(node["fields"]))
	case kind == "GroupingSet" && node["kind"] == "GROUPING_SET_CUBE":
		list, _ := node["content"].([]any)
		return math.Pow(2, float64(len(list))) * m.value(list, in)
	case kind == "over":
		in.windows++
	}
	return 1 + m.value(node, in)
}

// each1 returns how many bytes the value of each member of a list may have.
func (m *widths) each1(list any, in *scope) (all []float64) {
	items, _ := list.([]any)
	for _, one := range items {
		all = append(all, m.value(one, in))
	}
	return all
}

// padWidth returns the number of bytes to which a cast to the type v fills up a value, or 0 if it
// does not. For example, 'x'::char(1000) has 1,000 bytes.
func padWidth(v any) float64 {
	of, _ := v.(map[string]any)
	names, mods := parts(of["names"]), of["typmods"]
	if list, _ := mods.([]any); len(list) == 1 && len(names) > 0 {
		switch n, _ := constantNumber(list[0]); names[len(names)-1] {
		case "bpchar", "char":
			return n
		case "bit":
			return n / 8
		}
	}
	return 0
}

// operator returns how many bytes the result of an operator can have, from the widths of its
// operands.
func (m *widths) operator(node map[string]any, in *scope) float64 {
	left, right := m.value(node["lexpr"], in), m.value(node["rexpr"], in)
	signs := parts(node["name"])
	switch {
	case node["kind"] == "AEXPR_NULLIF":
		return left
	case node["kind"] != "AEXPR_OP" || len(signs) == 0:
		return columnWidth
	}
	switch signs[len(signs)-1] {
	case "=", "<>", "!=", "<", ">", "<=", ">=", "~", "~*", "!~", "!~*", "~~", "!~~",
		"@>", "<@", "&&", "?", "?|", "?&", "@@", "+", "*", "/", "%", "^":
		return 2 * columnWidth
	case "-", "->", "->>", "#>", "#>>", "#-":
		return left
	}
	return left + right
}

// narrow are functions whose result is small whatever the arguments are.
var narrow = lowerNames(strings.Fields(
	`count length char_length character_length octet_length bit_length
	strpos position cardinality array_length array_upper array_lower array_ndims array_position
	md5 hashtext sum avg ascii jsonb_array_length json_array_length json_typeof jsonb_typeof
	date_trunc extract date_part age row_number rank dense_rank`))

// collecting are the aggregates that store all of their values.
var collecting = lowerNames(strings.Fields(
	`string_agg array_agg json_agg jsonb_agg json_object_agg jsonb_object_agg
	json_agg_strict jsonb_agg_strict json_object_agg_strict jsonb_object_agg_strict
	json_object_agg_unique jsonb_object_agg_unique
	json_object_agg_unique_strict jsonb_object_agg_unique_strict`))

// collected returns how many bytes the result of an aggregate that stores its values may have, such
// as array_agg. The parameter arg is the width of one value. A very large arg means that the value
// is itself the result of such an aggregate. Since there are few such values, collected then
// returns arg without multiplying it.
func (m *widths) collected(arg float64) float64 {
	if arg < m.each*columnWidth {
		arg *= m.each
	}
	m.most = max(m.most, arg)
	return arg
}

// call returns how many bytes the result of a function call may have.
func (m *widths) call(node map[string]any, in *scope) (made float64) {
	args, _ := node["args"].([]any)
	each := m.each1(args, in)
	m.value(node["agg_order"], in)
	m.value(node["agg_filter"], in)
	sum := 0.0
	for _, n := range each {
		sum += n
	}
	defer func() { m.most = max(m.most, made) }()
	name := strings.TrimPrefix(dotNames(node["funcname"]), "pg_catalog.")
	switch {
	case narrow[name]:
		return 2 * columnWidth
	case collecting[name]:
		return m.collected(sum)
	case filling[name] && len(args) > 1:
		n, ok := constantNumber(args[1])
		if !ok {
			n = longestFill
		}
		if name == "repeat" {
			return each[0] * n
		}
		return max(each[0], n)
	case name == "array_to_string" && len(args) > 1: // there is a separator for each element
		return sum + joinWidth(each[0], textWidth(args[1], each[1]))
	case name == "concat_ws" && node["func_variadic"] == true && len(args) > 1:
		return sum + joinWidth(each[len(each)-1], textWidth(args[0], each[0]))
	case name == "jsonb_pretty" && m.each == 1 && sum > deepJSON: // each level adds indentation
		return sum * sum
	case name == "replace" && len(args) == 3:
		from, _ := constantText(args[1])
		return each[0] * max(1, textWidth(args[2], each[2])/max(1, float64(len(from))))
	case name == "regexp_replace" && len(args) > 2:
		to, plain := constantText(args[2])
		if plain && len(args) == 3 && !strings.Contains(to, `\`) {
			return each[0] + each[2]
		}
		return each[0] * max(1, textWidth(args[2], each[2]))
	case name == "string_to_array", name == "regexp_split_to_array", name == "regexp_matches":
		return sum * arrayFactor
	}
	return sum
}

// joinWidth returns how many bytes the separators add when the elements of an array are joined. The
// number of elements may be unknown, and joining them is one step that cannot be cancelled. So a
// long separator is assumed to join many elements.
func joinWidth(array, separator float64) float64 {
	elements := array / columnWidth
	if separator > longestSeparator {
		elements = max(elements, mostMade/longestSeparator)
	}
	return elements * separator
}

// longestSeparator is the length up to which a separator is accepted for any array.
const longestSeparator = 32

// textWidth returns the length in bytes of a constant text. For a node that is no constant text, it
// returns the parameter width.
func textWidth(node any, width float64) float64 {
	if text, ok := constantText(node); ok {
		return float64(len(text))
	}
	return width
}

// constantText returns the text if a node is a text constant; otherwise ok is false.
func constantText(node any) (text string, ok bool) {
	object, _ := node.(map[string]any)
	constant, _ := object["A_Const"].(map[string]any)
	inside, ok := constant["sval"].(map[string]any)
	text, _ = inside["sval"].(string)
	return text, ok
}

// constantNumber returns the number if a node is a number constant; otherwise ok is false.
func constantNumber(node any) (n float64, ok bool) {
	object, _ := node.(map[string]any)
	constant, _ := object["A_Const"].(map[string]any)
	if inside, found := constant["fval"].(map[string]any); found { // larger than an integer
		text, _ := inside["fval"].(string)
		n, err := strconv.ParseFloat(text, 64)
		return n, err == nil
	}
	inside, ok := constant["ival"].(map[string]any)
	n, _ = inside["ival"].(float64) // absent: 0
	return n, ok
}
