import LinuxSupport
package import NetworkReachability

/// The reason for the outcome of a probe or a check: a stable word that can be used as a metric label.
///
/// New words may be added, so it is not an enumeration. Every `NetworkPath.UnsatisfiedReason` is a reason with the same name.
public struct ProbeReason: RawRepresentable, Hashable, Sendable, Codable {
    /// The word in JSON output.
    public let rawValue: String

    /// Creates a reason with any word.
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    init(_ word: String) {
        self.init(rawValue: word)
    }

    /// Creates the reason why this machine refused to send a packet, from the error number of a socket call. EPERM means that the packet
    /// filter dropped the packet.
    init(refusal number: Int32) {
        let error = SystemError(rawValue: number)
        self = error == .notPermitted ? .firewall : ProbeReason(Verdict.Obstacle(error).reason)
    }

    /// The component of this machine that refused to send a packet, as a phrase.
    var refusal: String {
        self == .firewall ? "the packet filter" : NetworkPath.UnsatisfiedReason(rawValue: rawValue).description
    }

    /// Converts a reason of the kernel's path. The word is the same.
    package init(_ reason: NetworkPath.UnsatisfiedReason) {
        self.init(rawValue: reason.rawValue)
    }
}

/// Reasons on this machine.
extension ProbeReason {
    package static let notPermitted = ProbeReason("notPermitted")
    package static let noDescriptors = ProbeReason("noDescriptors")
    package static let interfaceGone = ProbeReason("interfaceGone")
    package static let reversePathFilter = ProbeReason("reversePathFilter")
    package static let firewall = ProbeReason("firewall")
    package static let tcpFiltered = ProbeReason("tcpFiltered")
    package static let clockWrong = ProbeReason("clockWrong")
    package static let addressConflict = ProbeReason("addressConflict")
}

/// Reasons of the name service.
extension ProbeReason {
    package static let nameNotFound = ProbeReason("nameNotFound")
    package static let noData = ProbeReason("noData")
    package static let serverFailed = ProbeReason("serverFailed")
    package static let serverRefused = ProbeReason("serverRefused")
    package static let serverSilent = ProbeReason("serverSilent")
    package static let serverClosed = ProbeReason("serverClosed")
    package static let serverUnreachable = ProbeReason("serverUnreachable")
    package static let truncatedWithoutTCP = ProbeReason("truncatedWithoutTCP")
    package static let malformedAnswer = ProbeReason("malformedAnswer")
    package static let mismatchedAnswer = ProbeReason("mismatchedAnswer")
    package static let notRecursive = ProbeReason("notRecursive")
    package static let blockedByPolicy = ProbeReason("blockedByPolicy")
    package static let inventsAnswers = ProbeReason("inventsAnswers")
    package static let wrongAnswer = ProbeReason("wrongAnswer")
    package static let knownAnswerDiffers = ProbeReason("knownAnswerDiffers")
    package static let answersDiffer = ProbeReason("answersDiffer")
    package static let slow = ProbeReason("slow")
    package static let unansweredAAAA = ProbeReason("unansweredAAAA")
    package static let noServerConfigured = ProbeReason("noServerConfigured")
    package static let temporaryFailure = ProbeReason("temporaryFailure")
}

/// Reasons on the path of packets.
extension ProbeReason {
    package static let refused = ProbeReason("refused")
    package static let refusedByFirewall = ProbeReason("refusedByFirewall")
    package static let prohibited = ProbeReason("prohibited")
    package static let noRouteBeyond = ProbeReason("noRouteBeyond")
    package static let hostUnreachable = ProbeReason("hostUnreachable")
    package static let hopLimitExceeded = ProbeReason("hopLimitExceeded")
    package static let fragmentationNeeded = ProbeReason("fragmentationNeeded")
    package static let silent = ProbeReason("silent")
    package static let neighbourFailed = ProbeReason("neighbourFailed")
    package static let reset = ProbeReason("reset")
    package static let noRoute = ProbeReason("noRoute")
    package static let silentBeyond = ProbeReason("silentBeyond")
    package static let filtered = ProbeReason("filtered")
    package static let portFiltered = ProbeReason("portFiltered")
    package static let pathMTU = ProbeReason("pathMTU")
    package static let stalled = ProbeReason("stalled")
}

/// Reasons of TLS and HTTP.
extension ProbeReason {
    package static let handshakeSilent = ProbeReason("handshakeSilent")
    package static let closedDuringHandshake = ProbeReason("closedDuringHandshake")
    package static let notTLS = ProbeReason("notTLS")
    package static let alert = ProbeReason("alert")
    package static let versionOrCipher = ProbeReason("versionOrCipher")
    package static let untrusted = ProbeReason("untrusted")
    package static let wrongName = ProbeReason("wrongName")
    package static let expired = ProbeReason("expired")
    package static let notYetValid = ProbeReason("notYetValid")
    package static let pinMismatch = ProbeReason("pinMismatch")
    package static let noPolicy = ProbeReason("noPolicy")
    package static let clientCertificateRequired = ProbeReason("clientCertificateRequired")
    package static let intercepted = ProbeReason("intercepted")
    package static let closedWithoutAnswer = ProbeReason("closedWithoutAnswer")
    package static let notHTTP = ProbeReason("notHTTP")
    package static let statusNotExpected = ProbeReason("statusNotExpected")
    package static let bodyNotExpected = ProbeReason("bodyNotExpected")
    package static let challengeWrong = ProbeReason("challengeWrong")
    package static let redirected = ProbeReason("redirected")
    package static let networkAuthenticationRequired = ProbeReason("networkAuthenticationRequired")
    package static let tooLarge = ProbeReason("tooLarge")
    package static let retryAfter = ProbeReason("retryAfter")
    package static let tooManyRedirects = ProbeReason("tooManyRedirects")
    package static let redirectFailed = ProbeReason("redirectFailed")
    package static let certificateExpiring = ProbeReason("certificateExpiring")
    package static let certificateNearlyExpired = ProbeReason("certificateNearlyExpired")
    package static let greetingNotExpected = ProbeReason("greetingNotExpected")
    package static let startTLSRefused = ProbeReason("startTLSRefused")
}

/// Reasons of SSH, NTP and DNS servers that are targets.
extension ProbeReason {
    package static let notSSH = ProbeReason("notSSH")
    package static let noCommonAlgorithm = ProbeReason("noCommonAlgorithm")
    package static let hostKeyMismatch = ProbeReason("hostKeyMismatch")
    package static let hostKeyUnproven = ProbeReason("hostKeyUnproven")
    package static let notSynchronized = ProbeReason("notSynchronized")
    package static let stratumTooHigh = ProbeReason("stratumTooHigh")
    package static let recordNotExpected = ProbeReason("recordNotExpected")
}

/// Reasons of a whole check.
extension ProbeReason {
    package static let targetAnswers = ProbeReason("targetAnswers")
    package static let internetProven = ProbeReason("internetProven")
    package static let upstreamAnswers = ProbeReason("upstreamAnswers")
    package static let captive = ProbeReason("captive")
    package static let portalByDNS = ProbeReason("portalByDNS")
    package static let anchorsProveNothing = ProbeReason("anchorsProveNothing")
    package static let anchorsDisagree = ProbeReason("anchorsDisagree")
    package static let notEnoughEvidence = ProbeReason("notEnoughEvidence")
    package static let ipv4Broken = ProbeReason("ipv4Broken")
    package static let ipv6Broken = ProbeReason("ipv6Broken")
}
