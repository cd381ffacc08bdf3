package import LinuxSupport
import ReachabilityLedger

/// `[fleet]`: the settings of the agent on this machine, which reads them from here. The service ignores them.
package struct FleetSettings: Hashable, Sendable {
    package let broker: BrokerAddress
    package let site: String
    package let device: String
    /// Files in PEM, for a broker with TLS.
    package var authority: String?
    package var certificate: String?
    package var key: String?
    /// Nil for what is usual.
    package var jitter: Duration?
    package var refresh: Duration?
    package var willDelay: Duration?
    /// Commands that are off unless they are named.
    package var allow: [String] = []
}

extension FleetSettings {
    /// What can be allowed.
    static let commands = ["check", "report"]

    /// Nil where something is wrong, which is collected.
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
