package import LinuxSupport
import ReachabilityLedger
package import ServerTrust

/// The settings of the table `[access]`: the tokens, the certificate authorities of clients, and the certificate of the service.
package struct AccessSettings: Hashable, Sendable {
    /// The permission of a client.
    package enum Scope: String, CaseIterable, Sendable {
        /// The client may read everything.
        case read
        /// The client may read and change everything.
        case admin
    }

    /// An access token. Only its hash is stored.
    package struct Token: Hashable, Sendable {
        package let name: String
        /// The SHA-256 hash of the token.
        package let digest: [UInt8]
        package let scope: Scope

        /// Returns a Boolean value that indicates whether a text is a valid name: 1 to 64 bytes without control characters.
        package static func isName(_ text: String) -> Bool {
            (1...64).contains(text.utf8.count)
                && !text.unicodeScalars.contains { $0.properties.generalCategory == .control }
        }
    }

    /// The PEM file with the certificate chain of the service (``CredentialFile``).
    package var certificate: String?
    /// The PEM file with the private key of the service (``CredentialFile``).
    package var key: String?
    /// The PEM file with the authorities whose client certificates permit reading without a token; nil for none.
    package var clients: String?
    /// The host names and addresses under which the service is used, in addition to those in its certificate.
    package var hosts: [HostPattern] = []
    package var tokens: [Token] = []
    /// The reverse proxies. Only their `X-Forwarded-For` and `X-Forwarded-Proto` are used.
    package var proxies: [AddressPrefix] = []
    /// The segments of the path that a reverse proxy does not remove from requests.
    package var basePath: [String] = []

    package init() {}
}

extension ServiceConfiguration {
    /// Reads the table and checks that it has all settings that the listen addresses require.
    static func access(_ root: TableReader, _ listen: Listen) -> AccessSettings {
        let table = root.table("access")
        let settings = table.map { AccessSettings($0) } ?? AccessSettings()
        guard listen.https?.isEmpty == false else { return settings }
        if table?.has("certificate") != true {
            root.report("listen.https", "requires certificate and key in [access]")
        }
        if table?.has("tokens") != true, table?.has("clients") != true {
            let why = "requires tokens or clients in [access]; create a token with `reachability serve token`"
            root.report("listen.https", why)
        }
        return settings
    }
}

extension AccessSettings {
    fileprivate init(_ table: TableReader) {
        func file(_ key: String) -> String? {
            guard let name = table.text(key) else { return nil }
            if name.isEmpty || name.utf8.contains(0) { table.report(key, "must be the path of a PEM file") }
            return name
        }
        (certificate, key, clients) = (file("certificate"), file("key"), file("clients"))
        for (one, other) in [("certificate", "key"), ("key", "certificate"), ("clients", "certificate")]
        where table.has(one) && !table.has(other) {
            table.report(one, "requires \(other)")
        }
        for (index, text) in (table.texts("hosts") ?? []).enumerated() {
            do { hosts.append(try HostPattern(text)) } catch {
                table.report("hosts[\(index + 1)]", "must be a host name such as box.example.org, or an address")
            }
        }
        for (index, text) in (table.texts("proxies") ?? []).enumerated() {
            let parts = text.split(at: "/", maxSplits: 1, omittingEmptySubsequences: false)
            let address = AddressLiteral(String(parts[0]))?.wire
            let length = parts.count > 1 ? Int(parts[1]) : address?.family.bitCount
            if let address, let length, (0...address.family.bitCount).contains(length) {
                proxies.append(AddressPrefix(address, length: length))
            } else {
                table.report(
                    "proxies[\(index + 1)]",
                    "must be an address such as 127.0.0.1, or a prefix such as 10.0.0.0/8"
                )
            }
        }
        if let path = table.text("base-path") {
            let segments = path.split(at: "/").map(String.init)
            let isPlain = segments.allSatisfy { $0.percentEncoded == $0 && !$0.isPathStep }
            if isPlain, path == segments.map({ "/" + $0 }).joined(), !segments.isEmpty {
                basePath = segments
            } else {
                table.report(
                    "base-path",
                    "must be a path such as /network, without special characters and without a slash at its end"
                )
            }
        }
        var (names, digests): ([String: String], [[UInt8]: String]) = ([:], [:])
        for token in table.tables("tokens") {
            guard let read = Token(token) else { continue }
            if let other = names.updateValue(token.path, forKey: read.name) {
                token.report("name", "\"\(read.name)\" is already used by \(other)")
            }
            if let other = digests.updateValue(token.path, forKey: read.digest) {
                token.report("sha256", "is already used by \(other)")
            }
            tokens.append(read)
        }
        table.finish()
    }
}

extension AccessSettings.Token {
    /// The SHA-256 hash of the empty text. It results from `printf "$TOKEN" | sha256sum` if the variable is empty.
    private static let digestOfNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    /// Reads a table and collects its problems. The result is nil for an invalid table.
    fileprivate init?(_ table: TableReader) {
        defer { table.finish() }
        let (name, sha256, word) = (table.text("name"), table.text("sha256"), table.text("scope"))
        for key in ["name", "sha256"] where !table.has(key) { table.report(key, "missing") }
        if let name, !Self.isName(name) {
            table.report("name", "must have 1 to 64 bytes and no control characters")
        }
        let scope = AccessSettings.Scope(rawValue: word ?? "read")
        if scope == nil { table.report("scope", "must be read or admin, not \"\(word ?? "")\"") }
        guard let sha256 else { return nil }
        guard let digest = [UInt8](hexadecimal: sha256.utf8), digest.count == 32 else {
            // The message does not include the value, because it may be the token itself.
            table.report("sha256", "must be the 64 hexadecimal digits that `reachability serve token` prints")
            return nil
        }
        guard sha256.lowercased() != Self.digestOfNothing else {
            table.report("sha256", "is the hash of an empty token; create a token with `reachability serve token`")
            return nil
        }
        guard let name, let scope else { return nil }
        self.init(name: name, digest: digest, scope: scope)
    }
}

/// A trust policy file that was read. Two values are equal only if they come from the same reading.
package final class TrustPolicy: Hashable, Sendable {
    package let file: TrustPolicyFile

    package init(_ file: TrustPolicyFile) {
        self.file = file
    }

    package static func == (one: TrustPolicy, other: TrustPolicy) -> Bool { one === other }

    package func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}

extension TableReader {
    /// Reads the file that the key `policy` names. Returns nil without the key, or if the file is invalid.
    ///
    /// - Parameter directory: The directory for a relative path; nil for the current directory.
    func policy(in directory: String?) -> TrustPolicy? {
        guard let path = text("policy") else { return nil }
        do throws(TrustPolicyFileError) {
            return TrustPolicy(try TrustPolicyFile(path: path.hasPrefix("/") ? path : (directory ?? "") + path))
        } catch {
            report("policy", error.description)
            return nil
        }
    }
}

/// Paths and permissions of files with secrets.
package enum CredentialFile {
    /// Returns the path of a file that a configuration names. A name without a slash is a systemd credential.
    ///
    /// - Returns: The path; nil for a credential if `CREDENTIALS_DIRECTORY` is not set.
    ///
    /// Source: `LoadCredential=` in `systemd.exec(5)`.
    package static func path(of name: String) -> String? {
        if name.contains("/") { return name }
        return EnvironmentVariable.value(of: "CREDENTIALS_DIRECTORY").map { "\($0)/\(name)" }
    }

    /// Returns a Boolean value that indicates whether this user can read a file that a configuration names. True for a missing file.
    package static func isReadable(_ name: String) -> Bool {
        guard let path = path(of: name) else { return false }
        do throws(SystemError) { _ = try OwnFile.mode(path) } catch { return error != .accessDenied }
        return InputFile.isReadable(path)
    }

    /// Returns an error message if all users of this machine have a permission for a file; otherwise nil.
    ///
    /// - Parameter remedy: The action that is needed after the permission is removed, because the secret may have been read.
    package static func exposure(of path: String, remedy: String) -> String? {
        guard let mode = try? OwnFile.mode(path), mode & 0o007 != 0 else { return nil }
        let name = path.printable
        return "\(name) is accessible to all users of this machine; run `chmod o= \(name)`, then \(remedy)"
    }

    /// Returns the error message for a credential without `CREDENTIALS_DIRECTORY`.
    package static func missing(_ name: String) -> String {
        "a name without a slash is a systemd credential, but CREDENTIALS_DIRECTORY is not set; for a file, write ./\(name.printable)"
    }
}

/// The settings of the table `[fleet]`, which the fleet agent on this machine reads. The service ignores them.
package struct FleetSettings: Hashable, Sendable {
    package let broker: BrokerAddress
    package let site: String
    package let device: String
    /// The PEM file with the authorities trusted to sign the broker's certificate; nil for the trust store of the system.
    package var authority: String?
    /// The PEM file with the client certificate chain.
    package var certificate: String?
    /// The PEM file with the private key of the client certificate.
    package var key: String?
    /// The user name and the file of its password; nil for none.
    package var user: String?
    package var passwordFile: String?
    /// The maximum random wait before the agent connects again; nil for the default.
    package var jitter: Duration?
    /// The maximum time between two reports; nil for the default.
    package var refresh: Duration?
    /// The time that the broker waits before it publishes that the agent is gone (MQTT will delay interval); nil for the default.
    package var willDelay: Duration?
    /// The commands that the agent accepts from the hub.
    package var allow: [String] = []
    /// Whether the agent announces the machine to Home Assistant or removes it; nil for neither.
    package var homeAssistant: Bool?
    /// The discovery prefix of Home Assistant; nil for the default.
    package var homeAssistantPrefix: String?
}

extension FleetSettings {
    /// The rule of a discovery prefix for error messages.
    package static let prefixRule = "1 to 8 names of letters, digits, \".\", \"_\" and \"-\", separated by \"/\""

    /// Returns a Boolean value that indicates whether a text can be a discovery prefix, which is the start of an MQTT topic.
    package static func isPrefix(_ text: String) -> Bool {
        let levels = text.split(at: "/", omittingEmptySubsequences: false)
        return levels.count <= 8 && levels.allSatisfy { FleetName.isValid(String($0)) }
    }

    /// The allowed values of `allow`.
    static let commands = ["check", "report"]

    /// Reads a table and collects its problems. The result is nil for an invalid table.
    init?(_ table: TableReader) {
        defer { table.finish() }
        let broker = table.text("broker").flatMap { text in
            let address = BrokerAddress(text)
            if address == nil { table.report("broker", "must be mqtts://HOST, mqtts://HOST:PORT or mqtt://HOST") }
            return address
        }
        let names = ["site", "device"].map { key -> String? in
            guard let name = table.text(key) else { return nil }
            if FleetName.isValid(name) { return name }
            table.report(key, "must be 1 to 64 letters, digits, \".\", \"_\" and \"-\", with a letter or digit first")
            return nil
        }
        for key in ["broker", "site", "device"] where !table.has(key) { table.report(key, "missing") }
        let authority = table.text("authority")
        let certificate = table.text("certificate")
        let key = table.text("key")
        if key != nil, certificate == nil { table.report("key", "requires certificate") }
        if let broker, !broker.isSecured, [authority, certificate, key].contains(where: { $0 != nil }) {
            table.report("broker", "authority, certificate and key require a broker with TLS: mqtts://")
        }
        let (user, passwordFile) = (table.text("user"), table.text("password-file"))
        if (user == nil) != (passwordFile == nil) {
            table.report(user == nil ? "password-file" : "user", "requires \(user == nil ? "user" : "password-file")")
        }
        let jitter = table.duration("jitter", atLeast: .zero)
        let refresh = table.duration("refresh", atLeast: .seconds(1))
        if let refresh, refresh > .seconds(86_400) { table.report("refresh", "must be at most 1d") }
        let willDelay = table.duration("will-delay", atLeast: .zero)
        let allow = table.texts("allow") ?? []
        for (index, word) in allow.enumerated() where !Self.commands.contains(word) {
            table.report("allow[\(index + 1)]", "must be \(Self.commands.joined(separator: " or ")), not \"\(word)\"")
        }
        let homeAssistant = table.flag("home-assistant")
        if homeAssistant != nil, names.contains(where: { $0?.contains(".") ?? false }) {
            table.report("home-assistant", "requires a site and a device without \".\"")
        }
        let prefix = table.text("home-assistant-prefix")
        if let prefix, !Self.isPrefix(prefix) { table.report("home-assistant-prefix", "must be \(Self.prefixRule)") }
        guard let broker, let site = names[0], let device = names[1] else { return nil }
        self.init(
            broker: broker,
            site: site,
            device: device,
            authority: authority,
            certificate: certificate,
            key: key,
            user: user,
            passwordFile: passwordFile,
            jitter: jitter,
            refresh: refresh,
            willDelay: willDelay,
            allow: allow,
            homeAssistant: homeAssistant,
            homeAssistantPrefix: prefix
        )
    }
}
