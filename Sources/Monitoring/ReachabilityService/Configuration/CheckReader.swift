import Formats
import LinuxSupport
import NetworkReachability
import ReachabilityChecks
import ServerTrust

/// A reader for the settings of checks in a configuration.
struct CheckReader {
    /// The configured servers that prove internet access.
    let anchors: [CheckOptions.Anchor]
    /// The directory for relative paths, with a slash at its end; nil for the current directory.
    let directory: String?

    /// The settings for the network at large in a configuration without targets. Nil without anchors: then it is not checked.
    var settings: CheckSettings? {
        if anchors.isEmpty { return nil }
        var settings = settings([CheckSettings.Check(nil)])
        settings.intervalWhenDown = CheckSettings.intervalOfNetwork
        return settings
    }

    private func settings(_ checks: [CheckSettings.Check]) -> CheckSettings {
        var settings = CheckSettings(checks)
        settings.anchors = anchors
        return settings
    }

    /// Reads the check settings of a target and collects problems. Returns nil if the target has no valid checks.
    ///
    /// - Parameters:
    ///   - host: The host of the target; nil for the network at large, or if the key is missing.
    ///   - isAtLarge: True for the network at large.
    func settings(of host: String?, _ isAtLarge: Bool, _ table: TableReader) -> CheckSettings? {
        let list = table.list("checks")
        let interval = table.duration("interval", atLeast: .seconds(1))
        let intervalWhenDown = table.duration("interval-when-down", atLeast: .seconds(1))
        let confirm = table.integer("confirm", 1...10)
        if let list, list.isEmpty {
            table.report("checks", "must not be empty; remove the key if nothing is to be checked")
        }
        var checks = (list ?? []).compactMap { check($0.node, $0.key, of: host, isAtLarge, table) }
        if list == nil, isAtLarge, !anchors.isEmpty { checks = [CheckSettings.Check(nil)] }
        if list == nil, let host, table.has("ping"), let echo = try? CheckTarget.echo(host) {
            checks = [CheckSettings.Check(echo)]
        }
        guard !checks.isEmpty else {
            let measures = ["ping"] + Measure.allCases.map(\.rawValue)
            for key in measures { _ = table.node(key) }
            if !table.has("checks") {
                for key in ["interval", "interval-when-down", "confirm"] + measures where table.has(key) {
                    table.report(key, "has no effect without checks; add, for example, checks = [\"tcp:443\"]")
                }
            }
            return nil
        }
        var settings = settings(checks)
        settings.interval = interval ?? settings.interval
        // Routers limit the rate of ICMP errors, and each check of the network at large requires some.
        let usual =
            checks.contains { $0.target == nil } ? CheckSettings.intervalOfNetwork : settings.intervalWhenDown
        settings.intervalWhenDown = intervalWhenDown ?? min(settings.interval, usual)
        settings.confirm = confirm ?? settings.confirm
        settings.readMeasurements(table, isHost: host != nil)
        return settings
    }

    // MARK: Checks

    private static let names = [
        "any", "dns", "http", "https", "network", "ntp", "ping", "ssh", "ssh:PORT", "tcp:PORT", "tls", "tls:PORT",
    ]
    private static let allowed =
        "must be one of \(names.joined(separator: ", ")), or a table such as { https = \"/health\" }"

    private func check(
        _ node: TOMLNode,
        _ key: String,
        of host: String?,
        _ isAtLarge: Bool,
        _ table: TableReader
    ) -> CheckSettings.Check? {
        do throws(CheckInputError) {
            switch node {
            case .string("network") where isAtLarge: return CheckSettings.Check(nil)
            case .string(let word):
                guard let host else {
                    // A missing host was reported before.
                    if isAtLarge { table.report(key, "must be \"network\" for at-large = true, not \"\(word)\"") }
                    return nil
                }
                return try target(word, of: host).map { CheckSettings.Check($0) } ?? report(word, key, table)
            case .table(let nodes):
                let reader = table.table(nodes, at: key)
                defer { reader.finish() }
                guard let host else {
                    if isAtLarge { table.report(key, "must be \"network\" for at-large = true, not a table") }
                    // Reading the keys prevents that they are reported as unknown.
                    for name in nodes.keys { _ = reader.node(name) }
                    return nil
                }
                return try check(reader, of: host)
            default:
                table.report(key, "\(Self.allowed), not \(node.kind)")
                return nil
            }
        } catch {
            table.report(key, error.description)
            return nil
        }
    }

    private func report(_ word: String, _ key: String, _ table: TableReader) -> CheckSettings.Check? {
        if word == "network" {
            table.report(
                key,
                "\"network\" requires at-large = true; the other checks are \(Self.names.filter { $0 != word }.joined(separator: ", "))"
            )
        } else if word == "tcp" {
            table.report(key, "requires a port, for example \"tcp:443\"")
        } else if let nearest = Self.names.filter({ !$0.contains("PORT") }).nearest(to: word) {
            table.report(key, "unknown check \"\(word)\"; did you mean \(nearest)?")
        } else {
            // The query of a URL may have a secret.
            let shown = String(word.unicodeScalars.prefix { $0 != "?" })
            table.report(key, "unknown check \"\(shown)\"; \(Self.allowed)")
        }
        return nil
    }

    /// Returns the check that a word such as `ping` or `tcp:443` stands for; nil for an unknown word.
    private func target(_ word: String, of host: String) throws(CheckInputError) -> CheckTarget? {
        let place = Self.place(host)
        switch word {
        case "any": return try CheckTarget(host)
        case "ping": return try CheckTarget("icmp://\(place)")
        case "dns": return try .name(host)
        case "http", "https": return try CheckTarget("\(word)://\(place)/")
        case "ntp", "ssh", "tls": return try CheckTarget("\(word)://\(place)")
        default:
            let parts = word.split(at: ":", omittingEmptySubsequences: false)
            guard parts.count == 2, ["ssh", "tcp", "tls"].contains(parts[0]) else { return nil }
            return try CheckTarget("\(parts[0])://\(place):\(parts[1])")
        }
    }

    private static func place(_ host: String) -> String { host.contains(":") ? "[\(host)]" : host }

    // MARK: Tables

    /// Reads a check that is a table, and collects problems. Returns nil for an invalid table.
    private func check(_ table: TableReader, of host: String) throws(CheckInputError) -> CheckSettings.Check? {
        let (place, options) = (Self.place(host), CheckOptionsReader(table: table))
        guard let kind = options.kind() else { return nil }
        let ports = 1...65535
        switch kind {
        case "tcp":
            guard let port = table.integer(kind, ports) else { return nil }
            return CheckSettings.Check(try CheckTarget("tcp://\(place):\(port)"))
        case "tls":
            let (policy, dialogue, days) = (policy(table), options.dialogue(), options.certificateDays())
            guard let port = table.integer(kind, ports) else { return nil }
            var target = try CheckTarget.handshake(with: host, port: UInt16(port), after: dialogue)
            target.certificateDays = days
            return CheckSettings.Check(target, policy: policy)
        case "dns":
            return try options.records(at: host).map { CheckSettings.Check($0) }
        case "ssh":
            let keys = options.hostKeys()
            guard let port = table.integer(kind, ports) else { return nil }
            var target = try CheckTarget("ssh://\(place):\(port)")
            target.hostKeys = keys
            return CheckSettings.Check(target)
        case "ntp":
            let stratum = table.integer("stratum", 1...15) ?? 15
            guard let port = table.integer(kind, ports) else { return nil }
            var target = try CheckTarget("ntp://\(place):\(port)")
            target.maximumStratum = UInt8(stratum)
            return CheckSettings.Check(target)
        default:
            let (policy, port, exchange) = (policy(table), table.integer("port", ports), options.exchange())
            let days = options.certificateDays()
            guard let path = table.text(kind) else { return nil }
            guard path.hasPrefix("/") else {
                table.report(kind, "must be a path that begins with /, not \"\(path.secretsMasked)\"")
                return nil
            }
            var target = try CheckTarget("\(kind)://\(place)\(port.map { ":\($0)" } ?? "")\(path)")
            (target.exchange, target.certificateDays) = (exchange, days)
            return CheckSettings.Check(target, policy: policy)
        }
    }

    private func policy(_ table: TableReader) -> TrustPolicy? { table.policy(in: directory) }
}

extension ServiceConfiguration {
    /// Reads the servers that prove internet access from the table `[anchors]`.
    static func anchors(_ table: TableReader) -> [CheckOptions.Anchor] {
        defer { table.finish() }
        var anchors: [CheckOptions.Anchor] = []
        for (index, text) in (table.texts("urls") ?? []).enumerated() {
            do throws(CheckInputError) {
                anchors.append(try CheckOptions.Anchor(text))
            } catch {
                table.report("urls[\(index + 1)]", error.description)
            }
        }
        return anchors
    }
}
