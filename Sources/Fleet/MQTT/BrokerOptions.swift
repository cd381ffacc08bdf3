package import LinuxSupport

/// What a connection is made with.
package struct BrokerOptions: Hashable, Sendable {
    /// Files in PEM. They are read for each connection, so that renewed ones are used.
    package struct TLS: Hashable, Sendable {
        /// Those who may sign the broker's certificate; nil for the system's, `/etc/ssl/certs`.
        package var authority: String?
        /// The client's own certificate, with those between it and its authority, and its key.
        package var certificate: String?
        package var key: String?

        package init(authority: String? = nil, certificate: String? = nil, key: String? = nil) {
            (self.authority, self.certificate, self.key) = (authority, certificate, key)
        }
    }

    package var address: BrokerAddress
    /// Used where the address says so.
    package var tls = TLS()
    /// Who it is: a broker lets one connection be with a name, and ends the other one.
    package var client: String
    /// The silence after which the client asks whether the broker is there, in whole seconds from 5 on. The broker gives the client up after
    /// one and a half of it; the client gives the broker up after at most two.
    package var keepAlive = Duration.seconds(60)
    /// So long the broker keeps the session after a connection; zero for a session that ends with it, and begins anew.
    ///
    /// Source: MQTT 5.0, 3.1.2.11.2, Session Expiry Interval.
    package var sessionExpiry = Duration.zero
    package var will: BrokerWill?
    package var version = ProtocolVersion.five

    package init(address: BrokerAddress, client: String) {
        (self.address, self.client) = (address, client)
    }
}
