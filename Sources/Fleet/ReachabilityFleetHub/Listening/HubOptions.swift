package import LinuxSupport
package import MQTT

/// What a hub is told of its broker.
package struct HubOptions: Sendable {
    package var broker: BrokerAddress
    package var tls: BrokerOptions.TLS
    /// Its name at the broker, which keeps what comes for it under that name while it is away.
    package var name: String
    package var jitter = Duration.seconds(2)
    package var keepAlive = Duration.seconds(60)
    /// So long the broker keeps what comes while the hub is away.
    package var sessionExpiry = Duration.seconds(86_400)

    package init(broker: BrokerAddress, tls: BrokerOptions.TLS = .init(), name: String) {
        (self.broker, self.tls, self.name) = (broker, tls, name)
    }
}
