import LinuxSupport
import ReachabilityChecks
import ServerTrustNIO

/// A reader for the options of a check that is a table.
struct CheckOptionsReader {
    let table: TableReader

    /// The kinds of checks that can be tables.
    static let kinds = ["http", "https", "tcp", "tls", "dns", "ssh", "ntp"]

    private static let web = ["http", "https"]
    private static let secured = ["https", "tls"]

    /// The kinds of checks that each option belongs to.
    private static let owners: KeyValuePairs<String, [String]> = [
        "port": web, "expect": web + ["dns"], "policy": secured, "certificate-days": secured, "starttls": ["tls"],
        "method": web, "headers": web, "body": web, "user": web, "password-file": web, "token-file": web,
        "redirects": web, "contains": web, "matches": web, "json": web, "type": ["dns"], "host-key": ["ssh"],
        "stratum": ["ntp"],
    ]

    /// Returns the only kind that the table names, and records a problem for each option that belongs to another kind. Nil without exactly
    /// one kind.
    func kind() -> String? {
        let named = Self.kinds.filter { table.has($0) }
        // Reading the keys prevents that they are reported as unknown.
        for key in Self.kinds + Self.owners.map({ $0.key }) { _ = table.node(key) }
        guard named.count == 1, let kind = named.first else {
            table.report(
                nil,
                "must have exactly one of \(Self.kinds.joined(separator: ", ")), not \(named.isEmpty ? "none" : "several")"
            )
            return nil
        }
        for (key, kinds) in Self.owners where table.has(key) && !kinds.contains(kind) {
            table.report(key, "is only allowed with \(kinds.joined(separator: " or ")), not with \(kind)")
        }
        return kind
    }

    // MARK: Web servers

    private static let methods = ["GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"]
    private static let contentKeys = ["contains", "matches", "json"]

    /// Reads the request to a web server, and the requirements for its response.
    func exchange() -> WebExchange {
        var exchange = WebExchange()
        exchange.body = table.text("body").map { Array($0.utf8) } ?? []
        exchange.method = table.has("body") ? "POST" : "GET"
        if let method = table.text("method") {
            if Self.methods.contains(method) {
                exchange.method = method
            } else {
                table.report("method", "must be one of \(Self.methods.joined(separator: ", ")), not \"\(method)\"")
            }
        }
        if exchange.method == "HEAD", let key = Self.contentKeys.first(where: { table.has($0) }) {
            table.report(key, "is not allowed with method = \"HEAD\", because the response has no body")
        }
        exchange.headers = headers()
        if let authorization = authorization() {
            if exchange.headers.contains(where: { $0.name.lowercased() == "authorization" }) {
                table.report("headers.Authorization", "is not allowed with user or token-file")
            }
            exchange.headers.append(WebExchange.Field("Authorization", authorization))
        }
        exchange.redirects = table.integer("redirects", 0...10) ?? 0
        exchange.expectedStatus = status()
        if let content = table.text("contains") {
            if !(1...1024).contains(content.utf8.count) { table.report("contains", "must have 1 to 1024 bytes") }
            exchange.content = content
        }
        if let text = table.text("matches") {
            do throws(TextPattern.Fault) { exchange.pattern = try TextPattern(text) } catch {
                table.report("matches", error.text)
            }
        }
        exchange.values = values()
        return exchange
    }

    /// Reads `expect`: a status code or a range of status codes.
    private func status() -> ClosedRange<Int>? {
        guard let node = table.node("expect") else { return nil }
        switch node {
        case .integer(let status) where 200...599 ~= status: return status...status
        case .string(let text):
            let parts = text.split(at: "-").compactMap { Int($0) }
            if parts.count == 2, 200 <= parts[0], parts[0] <= parts[1], parts[1] <= 599 { return parts[0]...parts[1] }
        default: break
        }
        table.report("expect", "must be a status code from 200 to 599 or a range such as \"200-299\"")
        return nil
    }

    /// The header fields that HTTP itself determines.
    private static let ownFields: Set = ["connection", "content-length", "keep-alive", "transfer-encoding"]

    /// Reads the header fields: strings, or tables that name a file.
    private func headers() -> [WebExchange.Field] {
        guard case .table(let fields)? = table.node("headers") else {
            if table.has("headers") {
                table.report("headers", "must be a table of strings and of { file = \"/path\" }")
            }
            return []
        }
        return fields.sorted { $0.key < $1.key }.compactMap { name, node in
            let key = "headers.\(name)"
            guard name.isFieldName else {
                table.report(key, "must be a field name of letters, digits and hyphens")
                return nil
            }
            guard !Self.ownFields.contains(name.lowercased()) else {
                table.report(key, "is set by the service")
                return nil
            }
            switch node {
            case .string(let value) where value.unicodeScalars.allSatisfy(\.isPrintable): return .init(name, value)
            case .table(let nodes):
                let reader = table.table(nodes, at: key)
                defer { reader.finish() }
                guard let file = reader.text("file") else {
                    if !reader.has("file") { reader.report("file", "missing") }
                    return nil
                }
                return secret(in: file, "\(key).file").map { WebExchange.Field(name, $0) }
            default:
                table.report(key, "must be a printable string or { file = \"/path\" }")
                return nil
            }
        }
    }

    /// Reads the credentials, as the value of `Authorization` (RFC 7617, RFC 6750).
    private func authorization() -> String? {
        let (user, password, token) = (table.text("user"), table.text("password-file"), table.text("token-file"))
        for (one, other) in [("user", "password-file"), ("password-file", "user")]
        where table.has(one) && !table.has(other) {
            table.report(one, "requires \(other)")
        }
        if table.has("token-file"), table.has("user") { table.report("token-file", "is not allowed with user") }
        if let token {
            do throws(DeliveryFailure) { return "Bearer " + (try SecretFile.token(token)) } catch {
                table.report("token-file", error.text)
                return nil
            }
        }
        guard let user, let password else { return nil }
        guard !user.utf8.contains(UInt8(ascii: ":")), user.unicodeScalars.allSatisfy(\.isPrintable) else {
            table.report("user", "must be printable and must not contain a colon")
            return nil
        }
        return secret(in: password, "password-file").map { HTTPProxy.basic(user: user, password: $0) }
    }

    /// Reads a secret of one line. The messages do not contain it.
    private func secret(in file: String, _ key: String) -> String? {
        do throws(DeliveryFailure) { return try SecretFile.text(file) } catch { table.report(key, error.text) }
        return nil
    }

    /// Reads the required values of a JSON response.
    private func values() -> [WebExchange.JSONRequirement] {
        guard let reader = table.table("json") else { return [] }
        guard case .table(let nodes)? = table.node("json") else { return [] }
        return nodes.sorted { $0.key < $1.key }.compactMap { text, node in
            guard let pointer = JSONPointer(text) else {
                reader.report(text, "must be a JSON pointer such as \"/status\" (RFC 6901)")
                return nil
            }
            switch node {
            case .string(let text): return .init(pointer, .string(text))
            case .integer(let number): return .init(pointer, .number("\(number)"))
            case .number(let number) where number.isFinite: return .init(pointer, .number("\(number)"))
            case .boolean(let truth): return .init(pointer, .bool(truth))
            case .number, .array, .table, .time:
                reader.report(text, "must be a string, a number, true or false, not \(node.kind)")
                return nil
            }
        }
    }

    // MARK: Other servers

    /// Reads `certificate-days`: a number of days, or a table of two.
    func certificateDays() -> CertificateDays? {
        let range = 1...3650
        guard case .table(let nodes)? = table.node("certificate-days") else {
            return table.integer("certificate-days", range).map { CertificateDays(warn: $0) }
        }
        let reader = table.table(nodes, at: "certificate-days")
        defer { reader.finish() }
        let (warn, alert) = (reader.integer("warn", range), reader.integer("alert", range))
        guard let warn else {
            if !reader.has("warn") { reader.report("warn", "missing") }
            return nil
        }
        if let alert, alert >= warn { reader.report("alert", "must be less than warn, which is \(warn), not \(alert)") }
        return CertificateDays(warn: warn, alert: alert)
    }

    /// Reads the mail protocol in which a command begins TLS.
    func dialogue() -> StartTLS? {
        guard let text = table.text("starttls") else { return nil }
        if let dialogue = StartTLS(rawValue: text) { return dialogue }
        table.report(
            "starttls",
            "must be one of \(StartTLS.allCases.map(\.rawValue).joined(separator: ", ")), not \"\(text)\""
        )
        return nil
    }

    /// Reads the fingerprints of the host keys of an SSH server: one, or an array.
    func hostKeys() -> Set<String> {
        var keys: [(key: String, text: String)] = []
        if case .array? = table.node("host-key") {
            keys = (table.texts("host-key") ?? []).enumerated().map { ("host-key[\($0 + 1)]", $1) }
            if keys.isEmpty { table.report("host-key", "must not be empty") }
        } else if let text = table.text("host-key") {
            keys = [("host-key", text)]
        }
        for (key, text) in keys where !CheckTarget.isHostKey(text) {
            table.report(key, "must be a fingerprint such as SHA256:… that `ssh-keygen -lf` prints, not \"\(text)\"")
        }
        return Set(keys.map(\.text))
    }

    /// Returns the check of a DNS server.
    func records(at host: String) throws(CheckInputError) -> CheckTarget? {
        let (name, type, expected) = (table.text("dns"), table.text("type") ?? "A", table.texts("expect") ?? [])
        guard CheckTarget.recordTypes.contains(type) else {
            let types = CheckTarget.recordTypes.joined(separator: ", ")
            table.report("type", "must be one of \(types), not \"\(type)\"")
            return nil
        }
        guard let name else { return nil }
        do throws(CheckInputError) {
            return try .dns(at: host, name, type: type, expecting: expected)
        } catch {
            guard case .option = error else { throw error }
            table.report("expect", error.description)
            return nil
        }
    }
}

extension String {
    /// A Boolean value that indicates whether the text can name a header field: ASCII letters, digits and hyphens.
    var isFieldName: Bool {
        !isEmpty
            && unicodeScalars.allSatisfy {
                $0.isASCII && ($0 == "-" || $0.properties.isAlphabetic || $0.properties.numericType != nil)
            }
    }
}
