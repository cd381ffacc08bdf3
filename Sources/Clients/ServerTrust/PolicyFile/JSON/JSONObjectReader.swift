/// Takes the members of an object by their keys, and refuses the rest.
struct JSONObjectReader {
    /// What the object is, for the sentences: `a policy of the kind "pins"`.
    let name: String
    let place: TextPlace
    private let members: [JSONNode.Member]

    init(_ node: JSONNode, name: String) throws(PolicyFileFault) {
        guard case .object(let members) = node.value else {
            throw PolicyFileFault("\(name) is an object, not \(node.kind)", at: node.place)
        }
        self.name = name
        self.members = members
        place = node.place
    }

    private init(name: String, place: TextPlace, members: [JSONNode.Member]) {
        self.name = name
        self.place = place
        self.members = members
    }

    /// The same object under another name.
    func named(_ name: String) -> JSONObjectReader {
        JSONObjectReader(name: name, place: place, members: members)
    }

    /// - Throws: A sentence that names every key that is not one of these.
    func allow(_ keys: [String]) throws(PolicyFileFault) {
        let unknown = members.filter { !keys.contains($0.key) }
        guard let first = unknown.first else { return }
        let names = unknown.map { "\"\($0.key)\"" }.joined(separator: ", ")
        throw PolicyFileFault(
            "\(name) has no \(unknown.count == 1 ? "key" : "keys") \(names): it may have \(keys.joined(separator: ", "))",
            at: first.place
        )
    }

    func node(_ key: String) -> JSONNode? { members.first { $0.key == key }?.node }

    func required(_ key: String) throws(PolicyFileFault) -> JSONNode {
        guard let node = node(key) else { throw PolicyFileFault("\(name) needs the key \"\(key)\"", at: place) }
        return node
    }

    func bool(_ key: String, default otherwise: Bool) throws(PolicyFileFault) -> Bool {
        guard let node = node(key) else { return otherwise }
        guard case .bool(let value) = node.value else {
            throw PolicyFileFault("\"\(key)\" is true or false, not \(node.kind)", at: node.place)
        }
        return value
    }

    func string(_ key: String) throws(PolicyFileFault) -> (text: String, place: TextPlace)? {
        guard let node = node(key) else { return nil }
        guard case .string(let text) = node.value else {
            throw PolicyFileFault("\"\(key)\" is a text, not \(node.kind)", at: node.place)
        }
        return (text, node.place)
    }

    /// An array of texts, each with its place; nil if the key is missing.
    func strings(_ key: String) throws(PolicyFileFault) -> [(text: String, place: TextPlace)]? {
        guard let node = node(key) else { return nil }
        guard case .array(let elements) = node.value else {
            throw PolicyFileFault("\"\(key)\" is an array of texts, not \(node.kind)", at: node.place)
        }
        var texts: [(String, TextPlace)] = []
        for element in elements {
            guard case .string(let text) = element.value else {
                throw PolicyFileFault("\"\(key)\" is an array of texts, \(element.kind) is none", at: element.place)
            }
            texts.append((text, element.place))
        }
        return texts
    }

    /// The members in their order.
    var all: [JSONNode.Member] { members }
}
