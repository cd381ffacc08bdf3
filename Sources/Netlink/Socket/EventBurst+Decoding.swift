import CNetlink

extension EventBurst {
    /// Counts the messages of one datagram. Unknown, truncated and malformed messages count too: a hint too many costs
    /// one look, a hint too few would leave the answer wrong.
    mutating func note(_ datagram: UnsafeRawBufferPointer) {
        messages += 1
        guard let header = datagram.load(nlmsghdr.self, at: 0) else { return }
        let kind = MessageKind(rawValue: header.nlmsg_type)
        subjects.formUnion(kind.subjects)
        // `rtmsg` begins with the family, then the prefix length.
        if subjects.contains(.route), datagram.load(UInt8.self, at: MessageHeader.size + 1) == 0 {
            subjects.insert(.defaultRoute)
        }
    }
}

extension MessageKind {
    fileprivate var subjects: EventBurst.Subjects {
        switch self {
        case .newLink, .deleteLink: .link
        case .newAddress: .address
        case .deleteAddress: [.address, .removal]
        case .newRoute: .route
        case .deleteRoute: [.route, .removal]
        case .newRule, .deleteRule: [.rule, .removal]
        case .newNextHop: .nextHop
        case .deleteNextHop: [.nextHop, .removal]
        case .newNetworkConfiguration, .deleteNetworkConfiguration: .configuration
        default: []
        }
    }
}
