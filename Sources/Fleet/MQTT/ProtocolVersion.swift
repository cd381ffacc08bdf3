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

/// Which version is spoken to a broker: 5, and 3.1.1 to one that does not take that. A value.
package struct VersionChoice: Hashable, Sendable {
    package private(set) var version = ProtocolVersion.five
    /// Whether the broker has taken it; then it stays so.
    private var isSettled = false
    /// Whether the broker has said that it takes no other.
    private var isOnly = false
    /// Whether it was said that it speaks 3.1.1.
    private var isTold = false

    package init() {}

    /// An attempt came to nothing.
    ///
    /// - Returns: Whether the broker is to be asked at once, with 3.1.1. One that takes neither is asked with 5 the next time.
    package mutating func fallsBack(_ error: BrokerError?) -> Bool {
        guard !isSettled else { return false }
        let mayBe = version == .five && error?.mayBeOfVersion ?? false
        version = mayBe ? .threeOneOne : .five
        if case .refused(.unsupportedProtocolVersion)? = error?.cause { isOnly = mayBe }
        return mayBe
    }

    /// The broker has accepted. One that has only ended a connection may have been about to end: it is asked with 5 the next time.
    ///
    /// - Returns: Whether it is known only now that it speaks 3.1.1.
    package mutating func settle() -> Bool {
        guard !isSettled else { return false }
        let isOld = version == .threeOneOne
        if isOld, !isOnly { version = .five } else { isSettled = true }
        defer { isTold = isTold || isOld }
        return isOld && !isTold
    }
}
