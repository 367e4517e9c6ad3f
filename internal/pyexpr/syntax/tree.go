package syntax

// Node is a part of the tree: a pointer to one of the types below. The tree is only data, which
// package pyexpr evaluates.
type Node any

type (
	// Const is a literal: nil, a bool, an int64 or a *big.Int, a float64 or a string.
	Const struct{ Value any }
	// Name is a variable in Slot of the frame that is Hops frames further out. A variable that no
	// scope in the source binds is one of the free names of the Tree, and the caller chooses its
	// slot.
	Name struct {
		Name            string
		Pos, Hops, Slot int
	}
	// Not is the operator `not`.
	Not struct{ X Node }
	// Logic is `and` or `or`. Its value is one of the operands, not a bool.
	Logic struct {
		Or          bool
		Left, Right Node
	}
	// Cond is `Then if Test else Other`.
	Cond struct{ Then, Test, Other Node }
	// Unary is an operand with a sign or ~ before it.
	Unary struct {
		Op string
		X  Node
	}
	// Binary joins two operands by an operator that is neither a comparison nor Logic.
	Binary struct {
		Op          string
		Left, Right Node
	}
	// Compare is a chain of comparisons. Each operand is evaluated at most once, and the first
	// comparison that is false ends it.
	Compare struct {
		First Node
		Ops   []string
		Rest  []Node
	}
	// Display is a list, a tuple or a set with its items written out.
	Display struct {
		Kind  Kind
		Items []Node
	}
	// Dict is a dict with its entries written out.
	Dict struct{ Keys, Values []Node }
	// Subscript is X[Index]; the index may be a Cut.
	Subscript struct{ X, Index Node }
	// Cut is a:b:c inside brackets. A missing part is nil.
	Cut struct{ Start, Stop, Step Node }
	// Attribute is X.Name.
	Attribute struct {
		X    Node
		Name string
	}
	// Call is a call with its arguments. Values are the values of the Keywords.
	Call struct {
		Callee   Node
		Args     []Node
		Keywords []string
		Values   []Node
	}
	// Lambda is a function without a name. Its frame contains the Params.
	Lambda struct {
		Params []string
		Body   Node
	}
	// Comprehension is a comprehension or generator. Names are the names of its frame's slots.
	// Value is set only for a dict.
	Comprehension struct {
		Kind       Kind
		Key, Value Node
		Loops      []*Loop
		Names      []string
	}
	// Iter evaluates an iterable and returns an iterator over it.
	Iter struct{ X Node }
	// Joined is a string with evaluated parts: an f-string, perhaps next to plain literals.
	Joined struct{ Parts []Node }
	// Field is a replacement field of an f-string.
	Field struct {
		X          Node
		Conversion byte // 's', 'r', 'a' or 0
		Spec       Node // nil: there is none
	}
	// Placed is a part of the tree with a place. Errors in it are reported at Pos in the source,
	// unless they already have a place further inside.
	Placed struct {
		Inner Node
		Pos   int
	}
)

// Kind says what a display or a comprehension makes.
type Kind uint8

// The values of Kind. Only a Display has TupleKind, and only a Comprehension has DictKind or
// GeneratorKind.
const (
	ListKind Kind = iota
	TupleKind
	SetKind
	DictKind
	GeneratorKind
)

// Loop is one `for` of a comprehension with its conditions.
type Loop struct {
	Target     Target
	In         Node // an Iter
	Conditions []Node
}

// Target says where a loop stores an item: in a slot or, if Slot is negative, in several targets
// into which the item is unpacked.
type Target struct {
	Slot int
	Many []Target
}

// Tree is a parsed expression.
type Tree struct {
	Root Node
	Free []*Name // names that no scope binds, in the order of the source
}
