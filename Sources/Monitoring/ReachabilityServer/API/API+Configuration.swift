import LinuxSupport
import ReachabilityService

extension API {
    /// The configuration in force, in the words of its file, without secrets. What it does not say is as the documentation has it.
    func configuration() -> Item {
        let inForce = reloader?.inForce
        var object = JSONObject()
        object.add("schema", 1)
        object.add("file", reloader?.file)
        object.add("stale", reloader?.status.isStale ?? false)
        object.add("needsRestart", inForce?.needsRestart ?? [])
        object.add("configuration", TOMLNode.object(of: inForce?.document ?? [:]))
        object.add("kind", "configuration")
        let text = reloader.map { "\($0.file.printable) is in force" } ?? "no file: the network at large is watched"
        return Item(key: "configuration", object: object, text: text, report: "\(text)\n\(object)")
    }
}

/// What a file says, as JSON, without secrets: a text is shown under the keys that are known to have none in them, and under no other.
extension TOMLNode {
    private static let mask = String.mask

    /// Texts that are no secrets.
    static let shown: Set<String> = [
        "after", "allow", "authority", "certificate", "checks", "clients", "daily", "device", "dns", "exec", "expect",
        "family", "for", "from", "host",
        "hosts", "http", "https",
        "interface", "interval",
        "interval-when-down", "jitter", "keep", "key", "limit", "mark", "max-size", "name", "namespace", "only", "path",
        "policy",
        "refresh", "scope", "settle", "site", "socket", "targets", "weekly", "will-delay",
    ]

    /// Texts that are addresses. Who knows what stands behind the host of one may often use it.
    static let addresses: Set<String> = ["alertmanager", "broker", "url", "urls", "webhook"]

    static func object(of table: [String: TOMLNode]) -> JSONObject {
        var object = JSONObject()
        for (key, node) in table.sorted(by: { $0.key < $1.key }) { node.add(to: &object, key, under: key) }
        return object
    }

    /// - Parameter key: That of the file it stands under.
    private func add(to object: inout JSONObject, _ name: String, under key: String) {
        switch self {
        case .string(let text): object.add(name, Self.withoutSecrets(text, under: key))
        case .integer(let number): object.add(name, number)
        case .boolean(let flag): object.add(name, flag)
        case .table(let table): object.add(name, Self.object(of: table))
        case .array(let nodes):
            object.add(name, number: "[\(nodes.map { $0.element(under: key) }.joined(separator: ","))]")
        // No key takes any.
        case .number, .time: object.add(name, String?.none)
        }
    }

    /// As an element of a list, which may be of several kinds.
    private func element(under key: String) -> String {
        var object = JSONObject()
        add(to: &object, "", under: key)
        return String(object.description.dropFirst(#"{"":"#.count).dropLast())
    }

    static func withoutSecrets(_ text: String, under key: String) -> String {
        if addresses.contains(key) { return text.hostAlone }
        guard shown.contains(key) else { return mask }
        return text.hasPrefix("/") ? text.queryMasked : text
    }
}

/// By bytes, for a sign with an accent is another character, and the same sign to who reads an address.
extension String {
    /// `https://example.org/***`.
    fileprivate var hostAlone: String {
        guard let scheme = utf8.firstRange(of: "://".utf8) else { return .mask }
        let rest = utf8[scheme.upperBound...]
        let end = rest.firstIndex { "/?#\\".utf8.contains($0) } ?? rest.endIndex
        guard !rest[..<end].contains(UInt8(ascii: "@")) else { return self[..<scheme.upperBound] + Self.mask }
        return end == endIndex ? self : self[..<end] + "/" + Self.mask
    }
}
