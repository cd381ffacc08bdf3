/// A value of a JSON text (RFC 8259), and where it stands, so that what is wrong with it can be told.
struct JSONNode: Sendable {
    indirect enum Value: Sendable {
        case object([Member])
        case array([JSONNode])
        case string(String)
        /// As it is written.
        case number(String)
        case bool(Bool)
        case null
    }

    struct Member: Sendable {
        let key: String
        /// Of the key.
        let place: TextPlace
        let node: JSONNode
    }

    let value: Value
    let place: TextPlace

    /// What it is, in words.
    var kind: String {
        switch value {
        case .object: "an object"
        case .array: "an array"
        case .string: "a text"
        case .number: "a number"
        case .bool(let value): "\(value)"
        case .null: "null"
        }
    }
}

/// Where something stands in a text.
struct TextPlace: Hashable, Sendable {
    /// From 1.
    var line = 1
    /// From 1, in bytes.
    var column = 1
}

/// What is wrong, and where.
struct PolicyFileFault: Error {
    let place: TextPlace
    let problem: String
    /// Whether it is wrong because another file cannot be read.
    var isUnreadable = false

    init(_ problem: String, at place: TextPlace, isUnreadable: Bool = false) {
        self.problem = problem
        self.place = place
        self.isUnreadable = isUnreadable
    }
}
