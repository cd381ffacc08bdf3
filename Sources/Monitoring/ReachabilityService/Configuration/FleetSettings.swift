import LinuxSupport
package import MQTT
package import ReachabilityFleet

/// `[fleet]`: what the agent on this machine tells to which broker. The service itself does nothing with it.
package struct FleetSettings: Hashable, Sendable {
    package let broker: BrokerAddress
    package let place: FleetPlace
    package var tls = BrokerOptions.TLS()
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
            if FleetPlace.isName(name) { return name }
            table.complain(key, "it is 1 to 64 letters, digits, \".\", \"_\" and \"-\", the first a letter or digit")
            return nil
        }
        for key in ["broker", "site", "device"] where !table.has(key) { table.complain(key, "it is missing") }
        let tls = BrokerOptions.TLS(
            authority: table.text("authority"),
            certificate: table.text("certificate"),
            key: table.text("key")
        )
        if tls.key != nil, tls.certificate == nil { table.complain("key", "it goes with certificate") }
        if let broker, !broker.isSecured, tls != .init() {
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
        guard let broker, let site = names[0], let device = names[1],
            let place = FleetPlace(site: site, device: device)
        else { return nil }
        self.init(
            broker: broker,
            place: place,
            tls: tls,
            jitter: jitter,
            refresh: refresh,
            willDelay: willDelay,
            allow: allow
        )
    }
}
