/// Which MQTT is spoken.
///
/// Version 3.1.1 knows neither a delay of the will nor an expiry: the broker says at once that a client is gone, and keeps what is retained
/// until something else is. Sessions that outlive a connection have no end of their own there.
///
/// Source: MQTT Version 5.0, OASIS Standard, 7 March 2019; MQTT Version 3.1.1, OASIS Standard, 29 October 2014.
package enum ProtocolVersion: Hashable, Sendable {
    case five
    case threeOneOne
}

extension BrokerError {
    /// Whether a broker that was spoken to with MQTT 5 may take 3.1.1: it says so, or it has ended the connection before it accepted it, as
    /// one does that cannot read what came.
    ///
    /// It is to be asked only for a connection that was never accepted.
    ///
    /// Source: MQTT 5.0, 3.1.2.2, Protocol Version.
    package var mayBeOfVersion: Bool {
        switch cause {
        case .refused(.unsupportedProtocolVersion), .lost, .handshake: true
        default: false
        }
    }
}
