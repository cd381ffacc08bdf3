package import LinuxSupport
import ReachabilityLedger
package import ServerTrust

/// `[access]`: the tokens, the authorities of clients, and the certificate of the service.
package struct AccessSettings: Hashable, Sendable {
    /// The permission of a client.
    package enum Scope: String, CaseIterable, Sendable {
        /// Read everything.
        case read
        /// Read and change everything.
        case admin
    }

    /// A token, of which only the hash is known.
    package struct Token: Hashable, Sendable {
        package let name: String
        /// SHA-256 of the token.
        package let digest: [UInt8]
        package let scope: Scope

        package init(name: String, digest: [UInt8], scope: Scope) {
            (self.name, self.digest, self.scope) = (name, digest, scope)
        }

        /// Whether a text may be a name, which notes contain.
        package static func isName(_ text: String) -> Bool {
            (1...64).contains(text.utf8.count)
                && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        }
    }

    /// The PEM file of the service's certificate chain (``CredentialFile``).
    package var certificate: String?
    /// The PEM file of the key.
    package var key: String?
    /// The PEM file of the authorities whose clients may read without a token; nil for none.
    package var clients: String?
    /// The names and addresses of the service, in addition to those of its certificate.
    package var hosts: [HostPattern] = []
    package var tokens: [Token] = []

    package init() {}
}

extension ServiceConfiguration {
    /// Reads the table, and checks it against the addresses of the service.
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

    /// Nil for an invalid table. Problems are collected.
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
            // The message does not include the value, because it may be the token itself.
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

/// A policy file. Each reading is different from the others.
package final class TrustPolicy: Hashable, Sendable {
    package let file: TrustPolicyFile

    package init(_ file: TrustPolicyFile) {
        self.file = file
    }

    package static func == (one: TrustPolicy, other: TrustPolicy) -> Bool { one === other }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension TableReader {
    /// Reads the file of `policy`; nil if there is none, or if it cannot be used.
    ///
    /// - Parameter directory: The directory of a relative path; nil for the current one.
    func policy(in directory: String?) -> TrustPolicy? {
        guard let path = text("policy") else { return nil }
        do throws(TrustPolicyFileError) {
            return TrustPolicy(try TrustPolicyFile(path: path.hasPrefix("/") ? path : (directory ?? "") + path))
        } catch {
            complain("policy", error.description)
            return nil
        }
    }
}

/// A file with a secret.
package enum CredentialFile {
    /// Returns the path of a file of a configuration. A name without a slash is a credential of systemd.
    ///
    /// - Returns: Nil if systemd has no such credential.
    ///
    /// Source: `LoadCredential=` of `systemd.exec(5)`.
    package static func path(of name: String) -> String? {
        if name.contains("/") { return name }
        return EnvironmentVariable.value(of: "CREDENTIALS_DIRECTORY").map { "\($0)/\(name)" }
    }

    /// Returns a problem if all users of this machine can read, write or execute a file.
    ///
    /// - Parameter remedy: The action after the file is protected, because users may have read it.
    package static func exposure(of path: String, remedy: String) -> String? {
        guard let mode = try? OwnFile.mode(path), mode & 0o007 != 0 else { return nil }
        let name = path.printable
        return "every user of this machine may use \(name): `chmod o= \(name)` takes that away, then \(remedy)"
    }

    /// The problem of a missing credential.
    package static func missing(_ name: String) -> String {
        "CREDENTIALS_DIRECTORY is not set, so it is a path: write ./\(name.printable)"
    }
}

/// `[fleet]`: the settings of the agent on this machine, which reads them from here. The service ignores them.
package struct FleetSettings: Hashable, Sendable {
    package let broker: BrokerAddress
    package let site: String
    package let device: String
    /// The PEM files for a broker with TLS.
    package var authority: String?
    package var certificate: String?
    package var key: String?
    /// Nil for the default.
    package var jitter: Duration?
    package var refresh: Duration?
    package var willDelay: Duration?
    /// The commands that are allowed.
    package var allow: [String] = []
}

extension FleetSettings {
    /// The possible values of `allow`.
    static let commands = ["check", "report"]

    /// Nil for an invalid table. Problems are collected.
    init?(_ table: TableReader) {
        defer { table.finish() }
        let broker = table.text("broker").flatMap { text in
            let address = BrokerAddress(text)
            if address == nil { table.complain("broker", "it is mqtts://HOST, mqtts://HOST:PORT or mqtt://HOST") }
            return address
        }
        let names = ["site", "device"].map { key -> String? in
            guard let name = table.text(key) else { return nil }
            if FleetName.isValid(name) { return name }
            table.complain(key, "it is 1 to 64 letters, digits, \".\", \"_\" and \"-\", the first a letter or digit")
            return nil
        }
        for key in ["broker", "site", "device"] where !table.has(key) { table.complain(key, "it is missing") }
        let authority = table.text("authority")
        let certificate = table.text("certificate")
        let key = table.text("key")
        if key != nil, certificate == nil { table.complain("key", "it goes with certificate") }
        if let broker, !broker.isSecured, [authority, certificate, key].contains(where: { $0 != nil }) {
            table.complain("broker", "authority, certificate and key are for a broker with TLS: mqtts://")
        }
        let jitter = table.duration("jitter", atLeast: .zero)
        let refresh = table.duration("refresh", atLeast: .seconds(1))
        if let refresh, refresh > .seconds(86_400) { table.complain("refresh", "it is at most 1d") }
        let willDelay = table.duration("will-delay", atLeast: .zero)
        let allow = table.texts("allow") ?? []
        for (index, word) in allow.enumerated() where !Self.commands.contains(word) {
            table.complain("allow[\(index + 1)]", "it is \(Self.commands.joined(separator: " or ")), not \"\(word)\"")
        }
        guard let broker, let site = names[0], let device = names[1] else { return nil }
        self.init(
            broker: broker,
            site: site,
            device: device,
            authority: authority,
            certificate: certificate,
            key: key,
            jitter: jitter,
            refresh: refresh,
            willDelay: willDelay,
            allow: allow
        )
    }
}
