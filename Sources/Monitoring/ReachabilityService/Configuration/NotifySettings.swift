import LinuxSupport
package import ReachabilityLedger

/// The settings of a table `[[notify]]`: a recipient of notifications.
package struct NotifierSettings: Hashable, Sendable {
    /// The transport of the notifications.
    package enum Channel: Hashable, Sendable {
        /// HTTP requests.
        case webhook(WebhookSettings)
        /// E-mail through a local mail program.
        case mail(MailSettings)
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
            case .mail: "email"
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
    /// The time between reminders of an ongoing incident.
    package var reminder = Duration.seconds(86_400)
    /// The time of the day in which nothing is sent; nil for none.
    package var quiet: QuietHours?

    /// Returns a Boolean value that indicates whether outages of a target (of a site for a hub) are reported.
    package func reports(_ target: String) -> Bool { targets?.contains(target) ?? true }
}

/// The settings of a webhook.
package struct WebhookSettings: Hashable, Sendable {
    /// A header field of a template.
    package struct Header: Hashable, Sendable {
        package let name: String
        package let value: String
    }

    package let url: String
    package var format = WebhookFormat.json
    /// The file with the key that signs the requests.
    package var secretFile: String?
    /// The file with the token of the service.
    package var tokenFile: String?
    /// The recipient at the service: a chat, a room or a user.
    package var recipient: String?
    /// The body of a template.
    package var body: String?
    /// The header fields of a template.
    package var headers: [Header] = []

    package init(url: String, format: WebhookFormat = .json, secretFile: String? = nil) {
        (self.url, self.format, self.secretFile) = (url, format, secretFile)
    }

    /// A Boolean value that indicates whether requests have an id, a time and, with a secret, a signature.
    package var isSigned: Bool { format == .json || format == .template }

    /// The escaping of the values in ``body``.
    package var escaping: TemplateEscaping { TemplateEscaping(contentType: contentType) }

    /// A Boolean value that indicates whether ``headers`` name the type of the body.
    var namesContentType: Bool { headers.contains { $0.name.lowercased() == "content-type" } }

    /// The type of the body. The default is JSON for a body that begins like JSON, otherwise text.
    var contentType: String {
        if let named = headers.first(where: { $0.name.lowercased() == "content-type" }) { return named.value }
        let start = body?.utf8.first { ![0x20, 0x09, 0x0a, 0x0d].contains($0) }
        let isJSON = start == UInt8(ascii: "{") || start == UInt8(ascii: "[")
        return isJSON ? "application/json" : "text/plain; charset=utf-8"
    }
}

/// A time of the day in which nothing is sent.
package struct QuietHours: Hashable, Sendable {
    /// The seconds after midnight. If the end is not after the start, it is on the next day.
    let (start, end): (Int64, Int64)
    let zone: LocalTime

    /// Returns the time until the quiet hours end; nil outside them.
    ///
    /// - Parameter moment: The time since 1970.
    func rest(at moment: Duration) -> Duration? {
        let now = zone.shown(at: moment.components.seconds)
        let today = now.floored(by: LocalTime.day) * LocalTime.day
        let length = end > start ? end - start : end - start + LocalTime.day
        for day in [today, today - LocalTime.day] where (day + start..<day + start + length).contains(now) {
            let rest = .seconds(zone.moment(showing: day + start + length)) - moment
            // An hour that occurs twice ends at its first end.
            return rest > .zero ? rest : nil
        }
        return nil
    }
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
        let (channel, policy) = (Self.channel(table, for: reader), table.policy(in: directory))
        if table.has("policy"), !table.has("webhook"), !table.has("format"), !table.has("alertmanager") {
            table.report("policy", "is only allowed with webhook or alertmanager")
        }
        let reminder = table.duration("remind", atLeast: .seconds(300)) ?? .seconds(86_400)
        let quiet = Self.quiet(table)
        for key in ["quiet", "remind"] where table.has("alertmanager") && table.has(key) {
            table.report(key, "is not allowed with alertmanager; configure it in Alertmanager")
        }
        guard let name else {
            if !table.has("name") { table.report("name", "missing") }
            return nil
        }
        table.check(name: name, atMost: 64)
        if name == "heartbeat" { table.report("name", "is reserved for [heartbeat]; choose another name") }
        guard let channel else { return nil }
        self.init(name: name, channel: channel, after: after, only: only, targets: targets, policy: policy)
        (self.reminder, self.quiet) = (reminder, quiet)
    }

    private static let channels = ["webhook", "email", "exec", "alertmanager", "journal"]

    private static func channel(_ table: TableReader, for reader: ServiceConfiguration.Reader) -> Channel? {
        let (webhook, mail) = (webhook(table, for: reader), mail(table))
        let (exec, limit) = (table.text("exec"), table.duration("limit", atLeast: .seconds(1)))
        let (urls, journal) = (table.urls("alertmanager"), table.flag("journal"))
        let given = channels.filter { table.has($0) || $0 == "webhook" && table.has("format") }
        guard given.count == 1 else {
            let found = given.isEmpty ? "none" : given.joined(separator: " and ")
            table.report(nil, "must have exactly one of \(channels.joined(separator: ", ")), not \(found)")
            return nil
        }
        for key in ["secret-file", "token-file", "to", "body", "headers"] where given != ["webhook"] && table.has(key) {
            table.report(key, "is only allowed with webhook")
        }
        for key in ["from", "sendmail"] where given != ["email"] && table.has(key) {
            table.report(key, "is only allowed with email")
        }
        if limit != nil, given != ["exec"] { table.report("limit", "is only allowed with exec") }
        if let webhook { return .webhook(webhook) }
        if let mail { return .mail(mail) }
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

    /// Reads the keys of a webhook. The result is nil without a URL.
    private static func webhook(_ table: TableReader, for reader: ServiceConfiguration.Reader) -> WebhookSettings? {
        let (url, secret, token) = (table.url("webhook"), table.text("secret-file"), table.text("token-file"))
        let (name, recipient, body) = (table.text("format"), table.text("to"), table.text("body"))
        let headers = headers(table)
        var format = body == nil ? WebhookFormat.json : .template
        if let name {
            // A template needs no name, because it has a body.
            let formats = WebhookFormat.allCases.filter { $0 != .template }
            guard let named = formats.first(where: { $0.rawValue == name }) else {
                let names = formats.map(\.rawValue).joined(separator: ", ")
                table.report("format", "must be one of \(names), not \"\(name)\"")
                return nil
            }
            if body != nil { table.report("body", "is not allowed with format") }
            format = named
        }
        let label = "format = \"\(format.rawValue)\""
        if body == nil, table.has("headers") { table.report("headers", "is only allowed with body") }
        if secret != nil, format != .json, format != .template {
            table.report("secret-file", "is not allowed with \(label)")
        }
        switch format.needsToken {
        case true? where !table.has("token-file"): table.report("token-file", "missing; \(label) needs it")
        case false? where token != nil: table.report("token-file", "is not allowed with \(label)")
        default: break
        }
        if let meaning = format.recipient {
            if !table.has("to") { table.report("to", "missing; \(label) needs \(meaning)") }
        } else if recipient != nil {
            table.report("to", "is not allowed with \(label)")
        }
        if let name, url == nil, !table.has("webhook"), format.usualURL == nil {
            table.report("webhook", "missing; format = \"\(name)\" needs the URL")
        }
        guard let url = url ?? (name == nil || table.has("webhook") ? nil : format.usualURL) else { return nil }
        var settings = WebhookSettings(url: url, format: format, secretFile: secret)
        (settings.tokenFile, settings.recipient) = (token, recipient)
        (settings.body, settings.headers) = (body, headers)
        let known = reader == .hub ? Notification.hubFields : Notification.fields
        for (key, text) in [("body", body ?? "")] + headers.map({ ("headers.\($0.name)", $0.value) }) {
            for field in text.placeholders where !known.contains(field) {
                table.report(key, "unknown field {\(field)}; the fields are \(known.joined(separator: ", "))")
            }
        }
        return settings
    }

    /// The header fields that the service or HTTP itself determines.
    private static let ownHeaders: Set<String> = [
        "host", "connection", "content-length", "transfer-encoding", "idempotency-key", "webhook-id",
        "webhook-timestamp", "webhook-signature",
    ]

    /// Reads the header fields of a template.
    private static func headers(_ table: TableReader) -> [WebhookSettings.Header] {
        guard case .table(let fields)? = table.node("headers"), let own = table.table("headers") else {
            if table.has("headers") { table.report("headers", "must be a table of strings") }
            return []
        }
        return fields.sorted { $0.key < $1.key }.compactMap { name, node in
            if Self.ownHeaders.contains(name.lowercased())
                || name.lowercased() == "authorization" && table.has("token-file")
            {
                table.report("headers.\(name)", "is set by the service")
                return nil
            }
            let text: String? =
                switch node {
                case .string(let text): text
                // The problems of the table were reported.
                case .table: own.secret(name) ?? ""
                default: nil
                }
            guard name.isFieldName, let value = text, value.unicodeScalars.allSatisfy(\.isPrintable) else {
                table.report(
                    "headers.\(name)",
                    "must be a field name of letters, digits and hyphens with a printable string"
                )
                return nil
            }
            return .init(name: name, value: value)
        }
    }

    private static func mail(_ table: TableReader) -> MailSettings? {
        let (recipients, sender, program) = (table.texts("email"), table.text("from"), table.text("sendmail"))
        guard let recipients else { return nil }
        let addresses = recipients.enumerated().map { ("email[\($0 + 1)]", $1) } + (sender.map { [("from", $0)] } ?? [])
        for (key, address) in addresses where !MailSettings.isAddress(address) {
            table.report(key, "must be an address such as ops@example.org, not \"\(address)\"")
        }
        if recipients.isEmpty { table.report("email", "must contain at least one address") }
        if let program, !program.hasPrefix("/") || program.utf8.contains(0) {
            table.report("sendmail", "must be the absolute path of a program")
        }
        return MailSettings(recipients: recipients, sender: sender, program: program ?? MailSettings.standardProgram)
    }

    private static func quiet(_ table: TableReader) -> QuietHours? {
        guard let text = table.text("quiet") else { return nil }
        let words = text.split(at: " ").map(String.init)
        let times = (words.first ?? "").split(at: "-").map { [String($0)] + words.dropFirst() }
        if times.count == 2, let start = MaintenanceWindow.time(times[0][...]),
            let end = MaintenanceWindow.time(times[1][...]),
            start.second != end.second
        {
            return QuietHours(start: start.second, end: end.second, zone: start.clock)
        }
        let example = "\"22:00-07:00 Europe/Berlin\""
        table.report("quiet", "must be two times and a time zone such as \(example), not \"\(text)\"")
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
        guard let text = secret(key) else { return nil }
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
