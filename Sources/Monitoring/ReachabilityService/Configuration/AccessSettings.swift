import LinuxSupport
package import ServerTrust

/// `[access]`: who may ask, what that lets them do, and what the service shows to those who ask from elsewhere.
package struct AccessSettings: Hashable, Sendable {
    /// What somebody may do.
    package enum Scope: String, CaseIterable, Sendable {
        /// See everything.
        case read
        /// Also whatever changes something.
        case admin
    }

    /// Something only its owner knows; here is what it is recognised by.
    package struct Token: Hashable, Sendable {
        package let name: String
        /// SHA-256 of the token.
        package let digest: [UInt8]
        package let scope: Scope

        package init(name: String, digest: [UInt8], scope: Scope) {
            (self.name, self.digest, self.scope) = (name, digest, scope)
        }

        /// Whether it may be called so: notes tell it.
        package static func isName(_ text: String) -> Bool {
            (1...64).contains(text.utf8.count)
                && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        }
    }

    /// The file of the service's certificate and those of the authorities above it, in PEM; its path is what ``CredentialFile`` says.
    package var certificate: String?
    /// The file of its key, in PEM.
    package var key: String?
    /// The file of the authorities whose clients may read without a token; nil where nobody may.
    package var clients: String?
    /// By which names and addresses the service is asked, beside those of its certificate.
    package var hosts: [HostPattern] = []
    package var tokens: [Token] = []

    package init() {}
}

extension ServiceConfiguration {
    /// What is said of access, and whether that goes together with where the service listens.
    static func access(_ root: TableReader, _ listen: Listen) -> AccessSettings {
        let table = root.table("access")
        let settings = table.map { AccessSettings($0) } ?? AccessSettings()
        guard listen.https?.isEmpty == false else { return settings }
        if table?.has("certificate") != true {
            root.complain("listen.https", "it needs a certificate and a key: say so in [access]")
        }
        if table?.has("tokens") != true, table?.has("clients") != true {
            let why = "nobody could ask without a token: `reachability serve token` makes one, for [access]"
            root.complain("listen.https", why)
        }
        return settings
    }
}

extension AccessSettings {
    fileprivate init(_ table: TableReader) {
        func file(_ key: String) -> String? {
            guard let name = table.text(key) else { return nil }
            if name.isEmpty || name.utf8.contains(0) { table.complain(key, "it is the path of a file in PEM") }
            return name
        }
        (certificate, key, clients) = (file("certificate"), file("key"), file("clients"))
        for (one, other) in [("certificate", "key"), ("key", "certificate"), ("clients", "certificate")]
        where table.has(one) && !table.has(other) {
            table.complain(one, "it is of no use without \(other)")
        }
        for (index, text) in (table.texts("hosts") ?? []).enumerated() {
            do { hosts.append(try HostPattern(text)) } catch {
                table.complain("hosts[\(index + 1)]", "it is a name such as box.example.org, or an address")
            }
        }
        var (names, digests): ([String: String], [[UInt8]: String]) = ([:], [:])
        for token in table.tables("tokens") {
            guard let read = Token(token) else { continue }
            if let other = names.updateValue(token.path, forKey: read.name) {
                token.complain("name", "\"\(read.name)\" is the name of \(other), too")
            }
            if let other = digests.updateValue(token.path, forKey: read.digest) {
                token.complain("sha256", "it is that of \(other), too")
            }
            tokens.append(read)
        }
        table.finish()
    }
}

extension AccessSettings.Token {
    /// What `printf '' | sha256sum` prints, when the variable with the token was empty.
    private static let digestOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// Nil for a table in which something is missing or wrong, which is collected.
    fileprivate init?(_ table: TableReader) {
        defer { table.finish() }
        let (name, sha256, word) = (table.text("name"), table.text("sha256"), table.text("scope"))
        for key in ["name", "sha256"] where !table.has(key) { table.complain(key, "it is missing") }
        if let name, !Self.isName(name) {
            table.complain("name", "it has from 1 to 64 bytes, none of them a control character")
        }
        let scope = AccessSettings.Scope(rawValue: word ?? "read")
        if scope == nil { table.complain("scope", "it is read or admin, not \"\(word ?? "")\"") }
        guard let sha256 else { return nil }
        guard let digest = [UInt8](hexadecimal: sha256.utf8), digest.count == 32 else {
            // What was found is not told: it may be the token itself.
            table.complain("sha256", "it is the 64 hexadecimal digits that `reachability serve token` prints")
            return nil
        }
        guard sha256.lowercased() != Self.digestOfNothing else {
            table.complain("sha256", "it is that of an empty token")
            return nil
        }
        guard let name, let scope else { return nil }
        self.init(name: name, digest: digest, scope: scope)
    }
}
