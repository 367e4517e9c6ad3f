package sqlsafe

import (
	"maps"
	"slices"
	"strconv"
)

// windowsAtOnce is how many windows a SELECT may have before they increase its size.
const windowsAtOnce = 8

// query returns the columns of a SELECT's result with their widths, and sets m.size to the number
// of nodes that the server plans for the SELECT.
func (m *widths) query(node map[string]any, outer *scope) (out []wide) {
	in := &scope{outer: outer, with: map[string][]wide{}, sizes: map[string]float64{}, size: 1}
	// the plan of each window has all columns
	defer func() { m.size = in.size * max(1, in.windows/windowsAtOnce) }()
	if with, ok := node["withClause"].(map[string]any); ok {
		m.with(with, in)
	}
	if left, ok := node["larg"].(map[string]any); ok {
		right, _ := node["rarg"].(map[string]any)
		out = m.query(left, in)
		in.size += m.size
		out = wider(out, m.query(right, in))
		in.size += m.size
	}
	rows, _ := node["valuesLists"].([]any)
	for _, one := range rows {
		row, _ := one.(map[string]any)
		list, _ := row["List"].(map[string]any)
		var columns []wide
		for _, inside := range list { // its only member
			for i, width := range m.each1(inside, in) {
				in.size += width
				columns = append(columns, wide{"column" + strconv.Itoa(i+1), width})
			}
		}
		out = wider(out, columns)
	}
	from, _ := node["fromClause"].([]any)
	for _, one := range from {
		m.from(one, in)
	}
	targets, _ := node["targetList"].([]any)
	for _, one := range targets {
		object, _ := one.(map[string]any)
		target, _ := object["ResTarget"].(map[string]any)
		width := m.value(target["val"], in)
		in.size += width
		if all, star := in.star(target["val"]); star {
			out = append(out, all...)
			continue
		}
		called, _ := target["name"].(string)
		if called == "" {
			called = givenName(target["val"])
		}
		out = append(out, wide{called, width})
	}
	m.most = max(m.most, total(out))
	for _, name := range slices.Sorted(maps.Keys(node)) {
		switch name {
		case "withClause", "larg", "rarg", "valuesLists", "fromClause", "targetList":
		default:
			in.size += m.value(node[name], in)
		}
	}
	return out
}

// with computes the widths of the columns of the parts of WITH. A recursive part is evaluated
// repeatedly until its widths stop growing or exceed the limit.
func (m *widths) with(with map[string]any, in *scope) {
	all, _ := with["ctes"].([]any)
	for _, one := range all {
		object, _ := one.(map[string]any)
		cte, _ := object["CommonTableExpr"].(map[string]any)
		query, _ := cte["ctequery"].(map[string]any)
		inside, _ := query["SelectStmt"].(map[string]any)
		called := cteName(one)
		rounds := 1
		if with["recursive"] == true {
			in.with[called] = nil
			if !m.nodes {
				rounds = roundsOfWidth
			}
		}
		for range rounds {
			before := in.with[called]
			now := renameColumns(m.query(inside, in), parts(cte["aliascolnames"]))
			in.with[called] = now
			in.size += m.size
			if cte["ctematerialized"] == "CTEMaterializeNever" {
				in.sizes[called] = m.size
			}
			if slices.Equal(before, now) || m.most > mostServerMemory {
				break
			}
		}
	}
}

// from adds a table, subquery or function from a FROM clause to the scope, with the widths of its
// columns.
func (m *widths) from(v any, in *scope) {
	object, _ := v.(map[string]any)
	for kind, inside := range object {
		node, _ := inside.(map[string]any)
		alias, _ := node["alias"].(map[string]any)
		is := source{rest: columnWidth}
		is.name, _ = alias["aliasname"].(string)
		columns := parts(alias["colnames"])
		switch kind {
		case "RangeVar":
			table, _ := node["relname"].(string)
			if is.name == "" {
				is.name = table
			}
			in.size++
			m.tables++
			if node["schemaname"] == nil {
				is.columns = in.named(table)
				in.size += in.sizeOf(table)
			}
			is.columns = renameColumns(is.columns, columns)
		case "RangeSubselect":
			query, _ := node["subquery"].(map[string]any)
			inside, _ := query["SelectStmt"].(map[string]any)
			is.columns = renameColumns(m.query(inside, in), columns)
			in.size += m.size
		case "RangeFunction":
			is.rest = m.value(node["functions"], in)
			in.size += is.rest
			is.columns = []wide{{is.name, is.rest}}
		case "JoinExpr":
			m.from(node["larg"], in)
			m.from(node["rarg"], in)
			in.size += m.value(node["quals"], in)
			continue
		case "RangeTableSample":
			m.from(node["relation"], in)
			continue
		default:
			is.rest = m.value(node, in)
			in.size += is.rest
		}
		in.from = append(in.from, is)
	}
}

// named returns the columns of the part of WITH with the given name, which this SELECT or one
// around it defines, or nil if there is none.
func (s *scope) named(table string) []wide {
	for ; s != nil; s = s.outer {
		if columns, ok := s.with[table]; ok {
			return columns
		}
	}
	return nil
}

// sizeOf returns how many nodes the server has to plan for each use of the part of WITH with the
// given name. It returns 0 if there is no such part, or if the server computes the part only once.
func (s *scope) sizeOf(table string) float64 {
	for ; s != nil; s = s.outer {
		if _, ok := s.with[table]; ok {
			return s.sizes[table]
		}
	}
	return 0
}

// column returns how many bytes the value of a column may have. The parameter fields has the parts
// of the column's name, such as "u" and "name" for u.name. The column is looked up in the FROM
// clause of the SELECT, and then in those of the SELECTs around it. If none of their sources has
// it, the name may stand for a whole row of a source, as u or u.* does, or for a column about which
// nothing is known. column then returns the greatest of the widths that these may have, and at
// least columnWidth.
func (s *scope) column(fields []string) float64 {
	last := fields[len(fields)-1]
	of := ""
	if len(fields) > 1 {
		of = fields[len(fields)-2]
	}
	rest := float64(columnWidth)
	for ; s != nil; s = s.outer {
		for _, one := range s.from {
			if of != "" && one.name != of {
				continue
			}
			for _, c := range one.columns {
				if c.name == last {
					return c.bytes
				}
			}
			if last == "" || of == "" && one.name == last {
				rest = max(rest, total(one.columns), one.rest)
			}
			rest = max(rest, one.rest)
		}
		if of == "" && last == "" {
			break
		}
	}
	return rest
}

// star returns the columns that * or t.* stands for in a SELECT; ok is false for any other node.
func (s *scope) star(node any) (all []wide, ok bool) {
	object, _ := node.(map[string]any)
	ref, _ := object["ColumnRef"].(map[string]any)
	fields := parts(ref["fields"])
	if len(fields) == 0 || fields[len(fields)-1] != "" {
		return nil, false
	}
	for _, one := range s.from {
		if len(fields) == 1 || one.name == fields[len(fields)-2] {
			all = append(all, one.columns...)
		}
	}
	return all, true
}

// givenName returns the name that the server gives to a column without AS, or "" for an expression
// that is not a column, a call or a cast.
func givenName(node any) string {
	object, _ := node.(map[string]any)
	for kind, inside := range object {
		of, _ := inside.(map[string]any)
		var all []string
		switch kind {
		case "ColumnRef":
			all = parts(of["fields"])
		case "FuncCall":
			all = parts(of["funcname"])
		case "TypeCast":
			return givenName(of["arg"])
		}
		if len(all) > 0 {
			return all[len(all)-1]
		}
	}
	return ""
}

// total returns how many bytes a row with these columns may have.
func total(columns []wide) (sum float64) {
	for _, c := range columns {
		sum += c.bytes
	}
	return sum
}

// wider returns the columns of a statement with two parts, such as a UNION, from the columns a and
// b of the parts. Each column has its name in a, and the larger of the two widths.
func wider(a, b []wide) []wide {
	if len(a) == 0 {
		return b
	}
	out := slices.Clone(a)
	for i := range min(len(a), len(b)) {
		out[i].bytes = max(a[i].bytes, b[i].bytes)
	}
	return out
}

// renameColumns returns the columns with the names of an alias such as AS t(a, b). Columns after
// the last name keep theirs.
func renameColumns(columns []wide, names []string) []wide {
	out := slices.Clone(columns)
	for i := range min(len(out), len(names)) {
		out[i].name = names[i]
	}
	return out
}
