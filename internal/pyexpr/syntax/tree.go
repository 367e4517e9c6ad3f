package syntax

// Node is a part of the tree: a pointer to one of the types below. The tree is only data, which the
// evaluator computes.
type Node any

type (
	// Const is a literal: nil, a bool, an int64 or a *big.Int, a float64 or a string.
	Const struct{ Value any }
	// Name is a variable in Slot of the frame that is Hops frames out. A variable that no scope in
	// the source binds is one of the free names of the Tree, and the caller chooses its slot.
	Name struct {
		Name            string
		Pos, Hops, Slot int
	}
	// Not is the operator `not`.
	Not struct{ X Node }
	// Logic is `and` or `or`: its value is an operand, not a bool.
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
	// Compare is a chain of comparisons: each operand is computed at most once, and the first
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
	// Cut is a:b:c within brackets; a part that is not written is nil.
	Cut struct{ Start, Stop, Step Node }
	// Attribute is X.Name.
	Attribute struct {
		X    Node
		Name string
	}
	// Call is a call with its arguments; Values are those of the Keywords.
	Call struct {
		Callee   Node
		Args     []Node
		Keywords []string
		Values   []Node
	}
	// Lambda is a function without a name, whose frame holds its Params.
	Lambda struct {
		Params []string
		Body   Node
	}
	// Comprehension is a comprehension or generator. Names are the slots of its frame; Value is
	// only set for a dict.
	Comprehension struct {
		Kind       Kind
		Key, Value Node
		Loops      []*Loop
		Names      []string
	}
	// Iter computes an iterable and returns an iterator over it.
	Iter struct{ X Node }
	// Joined is a string with computed parts: an f-string, or one next to plain literals.
	Joined struct{ Parts []Node }
	// Field is a replacement field of an f-string.
	Field struct {
		X          Node
		Conversion byte // 's', 'r', 'a' or 0
		Spec       Node // nil without one
	}
	// Placed is a part of the tree whose errors are reported at Pos in the source, unless they have
	// a place further inside.
	Placed struct {
		Inner Node
		Pos   int
	}
)

// Kind is what a display or a comprehension makes.
type Kind uint8

// The kinds. Only a Display makes a TupleKind, only a Comprehension a DictKind or a generator.
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

// Target is where a loop stores an item: a slot or, if the slot is negative, several targets into
// which the item is unpacked.
type Target struct {
	Slot int
	Many []Target
}

// Tree is an expression that was read.
type Tree struct {
	Root Node
	Free []*Name // in the order of the source
}
