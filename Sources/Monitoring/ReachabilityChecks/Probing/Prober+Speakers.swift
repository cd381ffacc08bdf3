import LinuxSupport
import NetworkReachability

/// Who says what.
extension Prober {
    /// Who sent an ICMP error about packets to `destination`.
    ///
    /// A router may answer with another of its addresses, often that of the far side: an error that arrives with the hop limit it began
    /// with comes from the link, and so from the gateway.
    func speaker(_ message: ErrorQueueMessage, about destination: WireAddress) -> Speaker {
        guard let offender = message.offender, !line.own.contains(offender) else { return .thisMachine }
        guard let gateway = line.gateway else { return offender == destination ? .peer : .hop(nil) }
        if offender == gateway.wire { return .gateway }
        if offender == destination { return .peer }
        guard let rest = message.hopLimit, let start = [64, 128, 255].first(where: { $0 >= rest }) else {
            return .hop(nil)
        }
        return start == rest ? .gateway : .hop(start - rest + 1)
    }

    func icmpError(_ message: ErrorQueueMessage, about destination: IPAddress) -> ICMPError {
        var error = ICMPError(
            family: family,
            type: message.type,
            code: message.code,
            sender: message.offender.map { IPAddress($0) } ?? destination,
            speaker: speaker(message, about: destination.wire)
        )
        if error.reason == .fragmentationNeeded { error.nextHopMTU = UInt16(exactly: message.information) }
        return error
    }

    /// What an ICMP error means for the probe that caused it.
    func outcome(_ message: ErrorQueueMessage, about destination: IPAddress) -> ProbeOutcome {
        let error = icmpError(message, about: destination)
        // A closed port: the host is there, and says so. Said by somebody else it is a packet filter.
        let isClosedPort = error.reason == .refusedByFirewall && error.sender.wire == destination.wire
        return isClosedPort ? .refused(error.speaker) : .unreachable(error)
    }
}

extension ProbeOutcome {
    /// Nothing was sent.
    init(_ error: SocketError) {
        self =
            switch error.kind {
            // Whatever the reason, it is no word about the network.
            case .other where error.step.isNamespace: .skipped(.interfaceGone)
            case .notPermitted: .skipped(.notPermitted)
            case .noDescriptors: .skipped(.noDescriptors)
            case .noBuffers: .skipped(.overBudget)
            case .other where error.cause == .tryAgain: .skipped(.overBudget)
            case .blocked, .noRoute, .noInterface, .noSuchAddress, .tooLong, .other:
                .blockedHere(error.cause.rawValue)
            }
    }
}
