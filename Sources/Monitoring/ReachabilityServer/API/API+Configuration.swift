package import LinuxSupport
import NIOHTTP1
package import ReachabilityService

extension API {
    /// Returns the configuration in force without secrets. Default values are not included.
    func configuration() -> Item {
        let inForce = reloader?.inForce
        var object = JSONObject()
        object.add("schema", 1)
        object.add("file", reloader?.file)
        object.add("stale", reloader?.status.isStale ?? false)
        object.add("needsRestart", inForce?.needsRestart ?? [])
        object.add("configuration", TOMLNode.object(of: inForce?.document ?? [:]))
        object.add("kind", "configuration")
        let text =
            reloader.map { "the active configuration is \($0.file.printable)" }
            ?? "no file; the network at large is monitored"
        return Item(key: "configuration", object: object, text: text, report: "\(text)\n\(object)")
    }
}

// The JSON of a configuration without secrets. Only the texts of keys that cannot contain a secret are shown.

extension TOMLNode {
    private static let mask = String.mask

    /// The keys whose texts are not secrets.
    static let shown: Set<String> = [
        "above", "after", "allow", "authority", "base-path", "certificate", "checks", "clients", "daily",
        "description", "device", "dns", "every", "exec", "expect", "family", "file", "for", "format", "from",
        "grace", "group", "home-assistant-prefix", "host", "host-key", "hosts", "http", "https", "include",
        "interface", "interval", "interval-when-down", "jitter", "keep", "key", "limit", "listen", "mark",
        "max-size", "method", "name", "namespace", "only", "over", "path", "policy", "quiet", "refresh",
        "remind", "scope", "sendmail", "settle", "site", "socket", "starttls", "tags", "target", "targets",
        "title", "type", "weekly", "will-delay",
    ]

    /// The keys of URLs. The path of a URL may be a secret.
    static let addresses: Set<String> = ["alertmanager", "broker", "url", "urls", "webhook"]

    /// Returns the JSON object of a table.
    static func object(of table: [String: TOMLNode]) -> JSONObject {
        var object = JSONObject()
        for (key, node) in table.sorted(by: { $0.key < $1.key }) { node.add(to: &object, key, under: key) }
        return object
    }

    /// Returns the JSON object of header fields, whose values may be secrets.
    private static func object(ofHeaders fields: [String: TOMLNode]) -> JSONObject {
        var object = JSONObject()
        for name in fields.keys.sorted() { object.add(name, mask) }
        return object
    }

    /// Adds the value to a JSON object.
    ///
    /// - Parameter key: The key of the value in the file, which determines whether it is shown.
    private func add(to object: inout JSONObject, _ name: String, under key: String) {
        switch self {
        case .string(let text): object.add(name, Self.withoutSecrets(text, under: key))
        case .integer(let number): object.add(name, number)
        case .boolean(let flag): object.add(name, flag)
        case .table(let fields) where key == "headers": object.add(name, Self.object(ofHeaders: fields))
        case .table(let table): object.add(name, Self.object(of: table))
        case .array(let nodes):
            object.add(name, number: "[\(nodes.map { $0.element(under: key) }.joined(separator: ","))]")
        // No key accepts such a value.
        case .number, .time: object.add(name, String?.none)
        }
    }

    /// Returns the JSON of the value as an element of an array.
    private func element(under key: String) -> String {
        var object = JSONObject()
        add(to: &object, "", under: key)
        return String(object.description.dropFirst(#"{"":"#.count).dropLast())
    }

    /// Returns a text with parts masked that may be secrets.
    static func withoutSecrets(_ text: String, under key: String) -> String {
        if addresses.contains(key) { return text.hostAlone }
        guard shown.contains(key) else { return mask }
        return text.hasPrefix("/") ? text.secretsMasked : text
    }
}

extension API {
    /// Reloads the configuration.
    func reload(_ query: Query) throws(Problem) -> WebAnswer {
        try Reloader.answer(reloader, of: "service", query) { $0.add("targets", service.snapshot.accounting.targets) }
    }
}

extension Reloader {
    /// Reloads the configuration and answers with the result. If the configuration has problems, the answer is 422 with all of them.
    ///
    /// - Parameter more: Adds members to the answer if the configuration was applied.
    package static func answer(
        _ reloader: Reloader?,
        of owner: String,
        _ query: Query,
        _ more: (inout JSONObject) -> Void = { _ in }
    ) throws(Problem) -> WebAnswer {
        guard let reloader else {
            throw Problem(.conflict, "the \(owner) was started without a configuration; start it with --config")
        }
        let isText = Representation(of: query.request) == .text
        do {
            let restart = try reloader.reload()
            if isText { return .text(reloader.applied(restart)) }
            var object = JSONObject()
            object.add("schema", 1)
            object.add("needsRestart", restart)
            more(&object)
            object.add("kind", "reload")
            return .one(object)
        } catch {
            let lines = error.descriptions(in: reloader.file)
            if isText { return .text((lines + [reloader.refused]).joined(separator: "\n"), .unprocessableEntity) }
            var object = Problem(.unprocessableEntity, lines.joined(separator: "; ")).object
            object.add("errors", error.problems.map(\.object))
            return WebAnswer(.unprocessableEntity, type: "application/problem+json", object.bytes)
        }
    }
}

extension ConfigurationProblem {
    fileprivate var object: JSONObject {
        var object = JSONObject()
        object.add("path", path)
        object.add("line", optional: line)
        object.add("column", optional: column)
        object.add("detail", text)
        return object
    }
}
