import CLinux
import LinuxPrimitives

extension EventBurst {
    /// So much of a message is looked at; the rest never is.
    static let headLimit = 256

    /// Counts what came from `sender`, a netlink port; 0 is the kernel.
    package mutating func note(_ message: [UInt8], from sender: UInt32) {
        message.withUnsafeBytes { note($0, from: sender) }
    }

    mutating func note(_ datagram: UnsafeRawBufferPointer, from sender: UInt32) {
        if sender == 0 { note(datagram.bytes(from: 0, length: Self.headLimit)) } else { foreign += 1 }
    }

    /// Counts a loss of messages for want of buffer space: any destination may have changed.
    package mutating func noteLoss() {
        overruns += 1
        noteSilentLoss()
    }

    /// Notes that messages may have been lost that no error tells of.
    mutating func noteSilentLoss() {
        isIncomplete = true
        prefixes = .everything
    }

    /// Counts the messages of one datagram. Unknown, truncated and malformed messages count too: a hint too many costs
    /// one evaluation, a hint too few would leave the answer wrong.
    mutating func note(_ datagram: UnsafeRawBufferPointer) {
        guard let header = datagram.load(nlmsghdr.self, at: 0) else {
            messages += 1
            subjects.insert(.other)
            return
        }
        let kind = MessageKind(rawValue: header.nlmsg_type)
        if kind == .newNeighbour || kind == .deleteNeighbour {
            guard Neighbour.mayChangeRoutes(datagram.bytes(from: MessageHeader.size)) else { return }
            prefixes.insert(.everyIPv6)
        }
        messages += 1
        let added = kind.subjects
        subjects.formUnion(added)
        // A route that goes with its address carries no port; the address before it does.
        if added.contains(.removal), header.nlmsg_pid != 0 { removedByPort = header.nlmsg_pid }
        if added.contains(.route) { noteRoute(datagram.bytes(from: MessageHeader.size)) }
    }

    /// - Parameter body: an `rtmsg`, which begins with the family and the prefix length, and what follows it.
    private mutating func noteRoute(_ body: UnsafeRawBufferPointer) {
        if body.load(UInt8.self, at: 1) == 0 { subjects.insert(.defaultRoute) }
        if prefixes.isEverything { return }
        if let prefix = AddressPrefix(routeBody: body), prefix.length > 0 {
            prefixes.insert(prefix)
        } else {
            prefixes = .everything
        }
    }
}

extension AddressPrefix {
    /// `::/0`.
    fileprivate static let everyIPv6 = AddressPrefix(WireAddress(family: .ipv6, bits: 0), length: 0)

    /// The destination of a route; nil when it is missing, cut off or of another family. A default route may have none.
    ///
    /// - Parameter body: an `rtmsg` and attributes, of which RTA_DST is among the first.
    fileprivate init?(routeBody body: UnsafeRawBufferPointer) {
        guard let head = body.load(rtmsg.self, at: 0), let family = AddressFamily(rawValue: head.rtm_family),
            Int(head.rtm_dst_len) <= family.bitCount
        else { return nil }
        let destination = Int(RTA_DST.rawValue)
        for (type, value) in Attributes(body.bytes(from: MemoryLayout<rtmsg>.size)) where type == destination {
            guard let address = WireAddress(bytes: value), address.family == family else { return nil }
            self.init(address, length: Int(head.rtm_dst_len))
            return
        }
        return nil
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
        case .newNeighbour, .deleteNeighbour: .neighbour
        default: .other
        }
    }
}
