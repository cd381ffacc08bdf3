import CNetlink

extension EventBurst {
    /// Counts the messages of one datagram. Unknown, truncated and malformed messages count too: a hint too many costs
    /// one look, a hint too few would leave the answer wrong.
    mutating func note(_ datagram: UnsafeRawBufferPointer) {
        messages += 1
        guard let header = datagram.load(nlmsghdr.self, at: 0) else { return }
        let kind = MessageKind(rawValue: header.nlmsg_type)
        let added = kind.subjects
        subjects.formUnion(added)
        // A route that goes with its address carries no port; the address before it does.
        if added.contains(.removal), header.nlmsg_pid != 0 { remover = header.nlmsg_pid }
        // `rtmsg` begins with the family, then the prefix length.
        if added.contains(.route), datagram.load(UInt8.self, at: MessageHeader.size + 1) == 0 {
            subjects.insert(.defaultRoute)
        }
    }
}

extension MessageKind {
    fileprivate var subjects: EventBurst.Subjects {
        switch self {
        case .newLink, .deleteLink: .link
        case .newAddress: [.address, .addition]
        case .deleteAddress: [.address, .removal]
        case .newRoute: [.route, .addition]
        case .deleteRoute: [.route, .removal]
        case .newRule: [.rule, .addition]
        case .deleteRule: [.rule, .removal]
        case .newNextHop: [.nextHop, .addition]
        case .deleteNextHop: [.nextHop, .removal]
        case .newNetworkConfiguration, .deleteNetworkConfiguration: .configuration
        default: []
        }
    }
}
