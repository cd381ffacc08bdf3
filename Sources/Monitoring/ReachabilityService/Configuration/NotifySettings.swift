import LinuxSupport
package import ReachabilityLedger

/// `[[notify]]`: a recipient of notifications.
package struct NotifierSettings: Hashable, Sendable {
    package enum Channel: Hashable, Sendable {
        /// An HTTP request, which is signed if there is a secret.
        case webhook(url: String, secretFile: String?)
        /// A program, or the executables of a directory.
        case exec(String, limit: Duration)
        /// Each of these Alertmanagers.
        case alertmanager([String])
        /// The journal of systemd.
        case journal

        /// The key of the configuration.
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
    /// The minimum duration of an outage that is notified.
    package let after: Duration
    /// The minimum durations of targets that have one of their own.
    package var settle: [String: Duration] = [:]
    /// The attributions that are notified. ``Attribution/up`` stands for targets that are degraded.
    package let only: Set<Attribution>
    /// The names of targets, or of sites for a hub; nil for all.
    package let targets: Set<String>?
    /// The trust policy for webhooks and Alertmanagers; nil for the trust store of the system.
    package var policy: TrustPolicy?

    package init(
        name: String,
        channel: Channel,
        after: Duration = .seconds(30),
        only: Set<Attribution> = [.us, .upstream, .them],
        targets: Set<String>? = nil
    ) {
        (self.name, self.channel, self.after, self.only, self.targets) = (name, channel, after, only, targets)
    }

    package func wants(_ target: String) -> Bool { targets?.contains(target) ?? true }
}

/// `[heartbeat]`: requests that show that the service is running.
package struct HeartbeatSettings: Hashable, Sendable {
    package let url: String
    package let interval: Duration
    /// The trust policy of the server; nil for the trust store of the system.
    package var policy: TrustPolicy?

    package init(url: String, interval: Duration = .seconds(300)) {
        (self.url, self.interval) = (url, interval)
    }
}

// Addresses may have secrets in them: nothing prints the settings.
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
                table.complain("name", "\"\(notifier.name)\" is the name of \(other), too")
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
            if !table.has("url") { table.complain("url", "it is missing") }
            return nil
        }
        var settings = HeartbeatSettings(url: url, interval: interval)
        settings.policy = policy
        return settings
    }
}

extension NotifierSettings {
    /// Nil for a table without a name or a channel. Other problems are collected.
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
            table.complain("policy", "it is for a webhook or an Alertmanager")
        }
        guard let name else {
            if !table.has("name") { table.complain("name", "it is missing") }
            return nil
        }
        table.check(name: name, atMost: 64)
        if name == "heartbeat" { table.complain("name", "it is what [heartbeat] is told by: take another") }
        guard let channel else { return nil }
        self.init(name: name, channel: channel, after: after, only: only, targets: targets)
        self.policy = policy
    }

    private static let channels = ["webhook", "exec", "alertmanager", "journal"]

    private static func channel(_ table: TableReader) -> Channel? {
        let (webhook, secret) = (table.url("webhook"), table.text("secret-file"))
        let (exec, limit) = (table.text("exec"), table.duration("limit", atLeast: .seconds(1)))
        let (urls, journal) = (table.urls("alertmanager"), table.flag("journal"))
        let given = channels.filter { table.has($0) }
        guard given.count == 1 else {
            let found = given.isEmpty ? "none" : given.joined(separator: " and ")
            table.complain(nil, "it has one of \(channels.joined(separator: ", ")), not \(found)")
            return nil
        }
        if secret != nil, given != ["webhook"] { table.complain("secret-file", "it is for a webhook") }
        if limit != nil, given != ["exec"] { table.complain("limit", "it is for exec") }
        if let webhook { return .webhook(url: webhook, secretFile: secret) }
        if let exec {
            if exec.hasPrefix("/"), !exec.utf8.contains(0) { return .exec(exec, limit: limit ?? .seconds(30)) }
            table.complain("exec", "it is an absolute path of a program, or of a directory of programs")
        }
        if let urls {
            if !urls.isEmpty { return .alertmanager(urls) }
            table.complain("alertmanager", "it names one at least")
        }
        if let journal {
            if journal { return .journal }
            table.complain("journal", "it is true, or the whole table is left out")
        }
        return nil
    }

    private static func only(_ table: TableReader, for reader: ServiceConfiguration.Reader) -> Set<Attribution> {
        // A hub also reports machines that are silent for an unknown reason.
        let usual: Set<Attribution> = reader == .hub ? [.us, .upstream, .them, .unknown] : [.us, .upstream, .them]
        guard let words = table.texts("only") else { return usual }
        // A hub knows outages only.
        let degraded = reader == .service ? ["degraded": Attribution.up] : [:]
        let allowed = ["us", "upstream", "them", "unknown"] + degraded.keys
        if words.isEmpty {
            table.complain("only", "it is empty: name one of \(allowed.joined(separator: ", "))")
        }
        let known = words.enumerated().compactMap { index, word -> Attribution? in
            if allowed.contains(word) { return degraded[word] ?? Attribution(rawValue: word) }
            table.complain("only[\(index + 1)]", "it is one of \(allowed.joined(separator: ", ")), not \"\(word)\"")
            return nil
        }
        return Set(known)
    }

    private static func targets(_ table: TableReader, _ known: Set<String>) -> Set<String>? {
        guard let names = table.texts("targets") else { return nil }
        if names.isEmpty { table.complain("targets", "nothing would be told: without this key all targets are") }
        for (index, name) in names.enumerated() where !known.contains(name) {
            table.complain("targets[\(index + 1)]", "there is no target \"\(name)\"")
        }
        return Set(names)
    }

    /// The names of sites are not checked, because only the machines know them.
    private static func sites(_ table: TableReader) -> Set<String>? {
        guard let names = table.texts("sites") else { return nil }
        if names.isEmpty { table.complain("sites", "nothing would be told: without this key all sites are") }
        for (index, name) in names.enumerated() where !FleetName.isValid(name) {
            table.complain("sites[\(index + 1)]", "it is the name of a site, not \"\(name)\"")
        }
        return Set(names)
    }
}

extension TableReader {
    private static let form = "it is an address such as https://example.org/path, without a user name"

    /// Reads an HTTP address. The problem does not include the address, because it may contain a secret.
    fileprivate func url(_ key: String) -> String? {
        guard let text = text(key) else { return nil }
        if Self.isURL(text) { return text }
        complain(key, Self.form)
        return nil
    }

    fileprivate func urls(_ key: String) -> [String]? {
        guard let list = texts(key) else { return nil }
        for (index, text) in list.enumerated() where !Self.isURL(text) { complain("\(key)[\(index + 1)]", Self.form) }
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
