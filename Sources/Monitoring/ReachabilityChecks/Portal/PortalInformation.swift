/// What the network's own server says of captivity (RFC 8908).
package struct PortalInformation: Hashable, Sendable {
    package var isCaptive: Bool
    /// Where a person opens the network.
    package var userPortalURL: String?
    package var venueURL: String?
    package var secondsRemaining: UInt64?
    package var bytesRemaining: UInt64?
    package var canExtendSession: Bool?

    package init(isCaptive: Bool, userPortalURL: String? = nil, secondsRemaining: UInt64? = nil) {
        self.isCaptive = isCaptive
        self.userPortalURL = userPortalURL
        self.secondsRemaining = secondsRemaining
    }

    /// Longer answers are refused.
    package static let maximumLength = 8 * 1024

    /// Reads `application/captive+json`. Members of other types than they should have are left out, but `captive` must be there.
    package init(json bytes: [UInt8]) throws(PortalFault) {
        guard bytes.count <= Self.maximumLength else { throw .tooLong }
        guard let value = JSONValue(bytes) else { throw .notJSON }
        guard case .object(let members) = value else { throw .notAnObject }
        guard case .bool(let isCaptive) = members["captive"] else { throw .captiveMissing }
        self.isCaptive = isCaptive
        userPortalURL = members["user-portal-url"]?.text
        venueURL = members["venue-info-url"]?.text
        secondsRemaining = members["seconds-remaining"]?.count
        bytesRemaining = members["bytes-remaining"]?.count
        canExtendSession = members["can-extend-session"]?.truth
    }
}

/// Why an answer says nothing of captivity.
package enum PortalFault: String, Error, Hashable, Sendable, CustomStringConvertible {
    case tooLong, notJSON, notAnObject, captiveMissing

    package var description: String {
        switch self {
        case .tooLong: "the captive portal API's answer is longer than \(PortalInformation.maximumLength) bytes"
        case .notJSON: "the captive portal API's answer is not JSON (RFC 8259)"
        case .notAnObject: "the captive portal API's answer is not a JSON object"
        case .captiveMissing: "the captive portal API does not say whether the network is captive (RFC 8908, section 5)"
        }
    }
}
