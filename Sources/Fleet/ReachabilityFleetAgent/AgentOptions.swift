package import LinuxSupport
package import MQTT
package import ReachabilityFleet

/// What an agent is told.
package struct AgentOptions: Sendable {
    /// A command that is off unless the owner of the machine allows it, for it costs the machine something.
    package enum Permission: String, Sendable, CaseIterable {
        case check, report
    }

    package var broker: BrokerAddress
    package var tls: BrokerOptions.TLS
    package var place: FleetPlace
    /// The longest wait before it connects again, of which a random part is waited: so many machines behind one router, or at one
    /// broker, do not come at once.
    package var jitter = Duration.seconds(5)
    /// So often it says how it is, at least.
    package var refresh = Duration.seconds(900)
    /// So long the broker waits for it before it says that it is gone.
    package var willDelay = Duration.seconds(30)
    package var keepAlive = Duration.seconds(60)
    package var permissions: Set<Permission> = []

    package init(broker: BrokerAddress, tls: BrokerOptions.TLS = .init(), place: FleetPlace) {
        (self.broker, self.tls, self.place) = (broker, tls, place)
    }
}

extension AgentOptions {
    /// After a refresh that was missed so many times nobody believes the last one.
    var expiry: Duration { refresh * DevicePresence.missedReports }

    func topic(_ kind: FleetTopic.Kind) -> String { FleetTopic.device(place, kind).description }

    /// What a connection is made with.
    func connection(session: String, version: ProtocolVersion = .five) -> BrokerOptions {
        var options = BrokerOptions(address: broker, client: place.device)
        options.tls = tls
        options.version = version
        options.keepAlive = keepAlive
        // The session has to outlive the delay of the will, and keeps what the agent is asked for meanwhile.
        options.sessionExpiry = max(.seconds(3600), willDelay * 2)
        let will = BrokerMessage(
            topic: topic(.state),
            payload: DeviceState.will(session: session).bytes,
            isRetained: true,
            expiry: expiry
        )
        options.will = BrokerWill(will, delay: willDelay)
        return options
    }
}
