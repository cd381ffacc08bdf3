/// The address of an MQTT broker: `mqtts://HOST[:PORT]`, or `mqtt://HOST[:PORT]` without TLS. Without TLS, anyone on
/// the path can read and forge messages.
package struct BrokerAddress: Hashable, Sendable, CustomStringConvertible {
    /// A host name or an address. An IPv6 address has no brackets.
    package let host: String
    package let port: UInt16
    /// True if the connection uses TLS.
    package let isSecured: Bool

    package init(host: String, port: UInt16, isSecured: Bool) {
        (self.host, self.port, self.isSecured) = (host, port, isSecured)
    }

    /// Returns nil if the text is not a broker address. The default port is 8883 with TLS and 1883 without.
    ///
    /// Source: Service Name and Transport Protocol Port Number Registry, `secure-mqtt` and `mqtt`.
    package init?(_ text: String) {
        let scheme: (prefix: String, port: UInt16, isSecured: Bool)
        switch text {
        case _ where text.hasPrefix("mqtts://"): scheme = ("mqtts://", 8883, true)
        case _ where text.hasPrefix("mqtt://"): scheme = ("mqtt://", 1883, false)
        default: return nil
        }
        var place = text.dropFirst(scheme.prefix.count)
        if place.hasSuffix("/") { place = place.dropLast() }
        guard let server = HostAndPort(place), case let host = server.host, server.isBracketed == host.contains(":"),
            !host.isEmpty, host.utf8.allSatisfy({ $0 > 0x20 && $0 != 0x7f }),
            !host.contains(where: { "/?#@[]".contains($0) }), let port = server.port(orElse: scheme.port)
        else { return nil }
        self.init(host: host, port: port, isSecured: scheme.isSecured)
    }

    package var description: String {
        "\(isSecured ? "mqtts" : "mqtt")://\(host.contains(":") ? "[\(host)]" : host):\(port)"
    }
}
