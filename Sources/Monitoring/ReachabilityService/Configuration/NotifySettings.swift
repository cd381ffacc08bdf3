import LinuxSupport
package import ReachabilityLedger

/// The settings of a table `[[notify]]`: a recipient of notifications.
package struct NotifierSettings: Hashable, Sendable {
    /// The transport of the notifications.
    package enum Channel: Hashable, Sendable {
        /// An HTTP request. It is signed if there is a file with a secret.
        case webhook(url: String, secretFile: String?)
        /// A program, or all executables in a directory. `limit` is the maximum run time.
        case exec(String, limit: Duration)
        /// The URLs of Alertmanagers. Each of them receives all notifications.
        case alertmanager([String])
        /// The systemd journal.
        case journal

        /// The key in the configuration.
        package var name: String {
            switch self {
            case .webhook: "webhook"
            case .exec: "exec"
            case .alertmanager: "alertmanager"
            case .journal: "journal"
            }
        }
    }

    package let name: String
    package let channel: Channel
    /// The minimum duration of an outage that is reported.
    package var after = Duration.seconds(30)
    /// The minimum durations of targets with the key `settle`, keyed by target. They replace ``after``.
    package var settle: [String: Duration] = [:]
    /// The attributions that are reported. ``Attribution/up`` stands for degraded targets.
    package var only: Set<Attribution> = [.us, .upstream, .them]
    /// The names of the reported targets, or of the sites for a hub; nil for all.
    package var targets: Set<String>?
    /// The trust policy for webhooks and Alertmanagers; nil for the trust store of the system.
    package var policy: TrustPolicy?

    /// Returns a Boolean value that indicates whether outages of a target (of a site for a hub) are reported.
    package func reports(_ target: String) -> Bool { targets?.contains(target) ?? true }
}

/// The settings of the table `[heartbeat]`: periodic HTTP requests that show that the service is running.
package struct HeartbeatSettings: Hashable, Sendable {
    package let url: String
    /// The time between two requests.
    package var interval = Duration.seconds(300)
    /// The trust policy for the server; nil for the trust store of the system.
    package var policy: TrustPolicy?
}

// The descriptions omit the URLs, because they may contain secrets.
extension NotifierSettings: CustomStringConvertible { package var description: String { name } }
extension HeartbeatSettings: CustomStringConvertible { package var description: String { "every \(interval)" } }

extension ServiceConfiguration {
    static func notifiers(
        _ root: TableReader,
        targets: [ServiceTarget],
        in directory: String?,
        for reader: Reader
    ) -> [NotifierSettings] {
        var names: [String: String] = [:]
        return root.tables("notify").compactMap { table in
            var notifier = NotifierSettings(table, targets: Set(targets.map(\.name)), in: directory, for: reader)
            for target in targets where reader == .service { notifier?.settle[target.name] = target.settle }
            if let notifier, let other = names.updateValue(table.path, forKey: notifier.name) {
                table.report("name", "\"\(notifier.name)\" is already used by \(other)")
            }
            return notifier
        }
    }

    static func heartbeat(_ root: TableReader, in directory: String?) -> HeartbeatSettings? {
        guard let table = root.table("heartbeat") else { return nil }
        defer { table.finish() }
        let interval = table.duration("interval", atLeast: .seconds(10)) ?? .seconds(300)
        let policy = table.policy(in: directory)
        guard let url = table.url("url") else {
            if !table.has("url") { table.report("url", "missing") }
            return nil
        }
        return HeartbeatSettings(url: url, interval: interval, policy: policy)
    }
}

extension NotifierSettings {
    /// Reads a table and collects its problems. The result is nil without a name or a valid channel.
    fileprivate init?(
        _ table: TableReader,
        targets known: Set<String>,
        in directory: String?,
        for reader: ServiceConfiguration.Reader
    ) {
        defer { table.finish() }
        let name = table.text("name")
        let after = table.duration("after", atLeast: .zero) ?? .seconds(30)
        let only = Self.only(table, for: reader)
        let targets = reader == .hub ? Self.sites(table) : Self.targets(table, known)
        let (channel, policy) = (Self.channel(table), table.policy(in: directory))
        if table.has("policy"), !table.has("webhook"), !table.has("alertmanager") {
            table.report("policy", "is only allowed with webhook or alertmanager")
        }
        guard let name else {
            if !table.has("name") { table.report("name", "missing") }
            return nil
        }
        table.check(name: name, atMost: 64)
        if name == "heartbeat" { table.report("name", "is reserved for [heartbeat]; choose another name") }
        guard let channel else { return nil }
        self.init(name: name, channel: channel, after: after, only: only, targets: targets, policy: policy)
    }

    private static let channels = ["webhook", "exec", "alertmanager", "journal"]

    private static func channel(_ table: TableReader) -> Channel? {
        let (webhook, secret) = (table.url("webhook"), table.text("secret-file"))
        let (exec, limit) = (table.text("exec"), table.duration("limit", atLeast: .seconds(1)))
        let (urls, journal) = (table.urls("alertmanager"), table.flag("journal"))
        let given = channels.filter { table.has($0) }
        guard given.count == 1 else {
            let found = given.isEmpty ? "none" : given.joined(separator: " and ")
            table.report(nil, "must have exactly one of \(channels.joined(separator: ", ")), not \(found)")
            return nil
        }
        if secret != nil, given != ["webhook"] { table.report("secret-file", "is only allowed with webhook") }
        if limit != nil, given != ["exec"] { table.report("limit", "is only allowed with exec") }
        if let webhook { return .webhook(url: webhook, secretFile: secret) }
        if let exec {
            if exec.hasPrefix("/"), !exec.utf8.contains(0) { return .exec(exec, limit: limit ?? .seconds(30)) }
            table.report("exec", "must be the absolute path of a program or of a directory of programs")
        }
        if let urls {
            if !urls.isEmpty { return .alertmanager(urls) }
            table.report("alertmanager", "must contain at least one URL")
        }
        if let journal {
            if journal { return .journal }
            table.report("journal", "must be true; to disable the journal, remove the table")
        }
        return nil
    }

    private static func only(_ table: TableReader, for reader: ServiceConfiguration.Reader) -> Set<Attribution> {
        // The default for a hub includes machines that are silent for an unknown reason.
        let usual: Set<Attribution> = reader == .hub ? [.us, .upstream, .them, .unknown] : [.us, .upstream, .them]
        guard let words = table.texts("only") else { return usual }
        // A hub has no incidents of degraded targets.
        let degraded = reader == .service ? ["degraded": Attribution.up] : [:]
        let allowed = ["us", "upstream", "them", "unknown"] + degraded.keys
        if words.isEmpty {
            table.report("only", "must not be empty; allowed are \(allowed.joined(separator: ", "))")
        }
        let known = words.enumerated().compactMap { index, word -> Attribution? in
            if allowed.contains(word) { return degraded[word] ?? Attribution(rawValue: word) }
            table.report("only[\(index + 1)]", "must be one of \(allowed.joined(separator: ", ")), not \"\(word)\"")
            return nil
        }
        return Set(known)
    }

    private static func targets(_ table: TableReader, _ known: Set<String>) -> Set<String>? {
        guard let names = table.texts("targets") else { return nil }
        if names.isEmpty { table.report("targets", "must not be empty; remove the key to report all targets") }
        for (index, name) in names.enumerated() where !known.contains(name) {
            table.report("targets[\(index + 1)]", "unknown target \"\(name)\"")
        }
        return Set(names)
    }

    /// Reads the names of sites. Only their form is checked, because the sites are configured on the machines.
    private static func sites(_ table: TableReader) -> Set<String>? {
        guard let names = table.texts("sites") else { return nil }
        if names.isEmpty { table.report("sites", "must not be empty; remove the key to report all sites") }
        for (index, name) in names.enumerated() where !FleetName.isValid(name) {
            table.report("sites[\(index + 1)]", "must be the name of a site, not \"\(name)\"")
        }
        return Set(names)
    }
}

extension TableReader {
    private static let form = "must be a URL such as https://example.org/path, without a user name"

    /// Reads an HTTP URL. The error message does not include the URL, because it may contain a secret.
    fileprivate func url(_ key: String) -> String? {
        guard let text = text(key) else { return nil }
        if Self.isURL(text) { return text }
        report(key, Self.form)
        return nil
    }

    fileprivate func urls(_ key: String) -> [String]? {
        guard let list = texts(key) else { return nil }
        for (index, text) in list.enumerated() where !Self.isURL(text) { report("\(key)[\(index + 1)]", Self.form) }
        return list.filter { Self.isURL($0) }
    }

    private static func isURL(_ text: String) -> Bool {
        guard let scheme = ["https://", "http://"].first(where: { text.lowercased().hasPrefix($0) }),
            text.utf8.count <= 2048, text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7f })
        else { return false }
        let authority = text.dropFirst(scheme.count).prefix { !"/?#".contains($0) }
        return !authority.isEmpty && !authority.contains("@") && !authority.hasPrefix(":")
    }
}
