import LinuxSupport

extension JSONNode {
    /// Parses the text of a policy file.
    static func ofPolicyFile(_ bytes: [UInt8]) throws(PolicyFileError) -> JSONNode {
        do throws(JSONFault) {
            return try JSONReader.read(bytes)
        } catch {
            throw PolicyFileError(error.problem, at: error.position)
        }
    }

    /// The name of the type for error messages.
    var kind: String {
        switch value {
        case .object: "an object"
        case .array: "an array"
        case .string: "a string"
        case .number: "a number"
        case .bool(let value): "\(value)"
        case .null: "null"
        }
    }
}

/// An error in a policy file, with its position.
struct PolicyFileError: Error {
    let position: TextPosition
    let problem: String
    /// A Boolean value that indicates whether the cause is another file that cannot be read.
    var isUnreadable = false

    init(_ problem: String, at position: TextPosition, isUnreadable: Bool = false) {
        self.problem = problem
        self.position = position
        self.isUnreadable = isUnreadable
    }
}

/// A reader of the members of an object by key. It refuses unknown and duplicate keys.
struct JSONObjectReader {
    /// The name of the object in error messages, for example `a policy of the kind "pins"`.
    private(set) var name: String
    let position: TextPosition
    private let members: [JSONNode.Member]

    init(_ node: JSONNode, name: String) throws(PolicyFileError) {
        guard case .object(let members) = node.value else {
            throw PolicyFileError("\(name) must be an object, not \(node.kind)", at: node.position)
        }
        var keys: Set<String> = []
        for member in members where !keys.insert(member.key).inserted {
            throw PolicyFileError("the key \"\(member.key)\" is duplicated", at: member.position)
        }
        self.name = name
        self.members = members
        position = node.position
    }

    /// Returns the same object with another name for error messages.
    func named(_ name: String) -> JSONObjectReader {
        var object = self
        object.name = name
        return object
    }

    /// Checks that the object has no other keys.
    ///
    /// - Throws: An error that contains all unknown keys.
    func allow(_ keys: [String]) throws(PolicyFileError) {
        let unknown = members.filter { !keys.contains($0.key) }
        guard let first = unknown.first else { return }
        let names = unknown.map { "\"\($0.key)\"" }.joined(separator: ", ")
        throw PolicyFileError(
            "\(name) has no \(unknown.count == 1 ? "key" : "keys") \(names); the keys are \(keys.joined(separator: ", "))",
            at: first.position
        )
    }

    func node(_ key: String) -> JSONNode? { members.first { $0.key == key }?.node }

    func required(_ key: String) throws(PolicyFileError) -> JSONNode {
        guard let node = node(key) else { throw PolicyFileError("\(name) requires the key \"\(key)\"", at: position) }
        return node
    }

    func bool(_ key: String, default otherwise: Bool) throws(PolicyFileError) -> Bool {
        guard let node = node(key) else { return otherwise }
        guard case .bool(let value) = node.value else {
            throw PolicyFileError("\"\(key)\" must be true or false, not \(node.kind)", at: node.position)
        }
        return value
    }

    func string(_ key: String) throws(PolicyFileError) -> (text: String, position: TextPosition)? {
        guard let node = node(key) else { return nil }
        guard case .string(let text) = node.value else {
            throw PolicyFileError("\"\(key)\" must be a string, not \(node.kind)", at: node.position)
        }
        return (text, node.position)
    }

    /// Returns an array of strings, each with its position; nil if the key is missing.
    func strings(_ key: String) throws(PolicyFileError) -> [(text: String, position: TextPosition)]? {
        guard let node = node(key) else { return nil }
        guard case .array(let elements) = node.value else {
            throw PolicyFileError("\"\(key)\" must be an array of strings, not \(node.kind)", at: node.position)
        }
        var texts: [(String, TextPosition)] = []
        for element in elements {
            guard case .string(let text) = element.value else {
                throw PolicyFileError("\"\(key)\" must contain only strings, not \(element.kind)", at: element.position)
            }
            texts.append((text, element.position))
        }
        return texts
    }

    /// The members in the order of the file.
    var all: [JSONNode.Member] { members }
}
