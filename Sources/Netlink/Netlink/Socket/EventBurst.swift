import CLinux
package import LinuxSupport

/// The events since the last read: a hint that routes may have changed, never the change itself.
package struct EventBurst: Hashable, Sendable {
    /// The subjects of the messages.
    package struct Subjects: OptionSet, Hashable, Sendable {
        package let rawValue: UInt16

        package init(rawValue: UInt16) {
            self.rawValue = rawValue
        }

        package static let link = Subjects(rawValue: 1 << 0)
        package static let address = Subjects(rawValue: 1 << 1)
        package static let route = Subjects(rawValue: 1 << 2)
        /// A route of prefix length 0, in any table.
        package static let defaultRoute = Subjects(rawValue: 1 << 3)
        package static let rule = Subjects(rawValue: 1 << 4)
        package static let nextHop = Subjects(rawValue: 1 << 5)
        package static let configuration = Subjects(rawValue: 1 << 6)
        /// A route, rule, next hop or address was taken away, perhaps by a batch that is about to put another in its place.
        package static let removal = Subjects(rawValue: 1 << 7)
        /// A route, rule, next hop or address was put in place.
        package static let addition = Subjects(rawValue: 1 << 8)
        /// Something else, or not to be made out.
        package static let other = Subjects(rawValue: 1 << 9)
        /// An IPv6 neighbour, which may be a gateway, does not answer, or answers again.
        package static let neighbour = Subjects(rawValue: 1 << 10)
    }

    /// Messages of the kernel, but for those of neighbours that change no route.
    package var messages = 0
    /// How often messages were lost for want of buffer space (ENOBUFS).
    package var overruns = 0
    /// Whether messages may be missing, so that anything may have changed.
    package var isIncomplete = false
    /// Messages of other processes, which were ignored.
    package var foreign = 0
    package var subjects: Subjects = []
    /// Who made the changes, for evidence.
    package var author = Author.kernel
    /// The destinations of the routes in the messages. Messages with other subjects have no destination.
    package var prefixes: ChangedPrefixes = .none
    /// Why the socket cannot be read any more; nil while it can.
    package var failure: SystemError?
    /// When the first of it was noticed, on the monotonic clock: the moment the thread that waits for it woke. Nil for what
    /// was fetched otherwise.
    package var noticed: Duration?
    /// When the last of it had been read, on the same clock; nil where it was one message, or was fetched otherwise.
    package var completed: Duration?

    /// - Parameter prefixes: nil for everything where the burst is about routes or messages were lost, else none.
    package init(
        messages: Int = 0,
        overruns: Int = 0,
        foreign: Int = 0,
        subjects: Subjects = [],
        prefixes: ChangedPrefixes? = nil,
        noticed: Duration? = nil,
        author: Author = .kernel
    ) {
        self.messages = messages
        self.overruns = overruns
        isIncomplete = overruns > 0
        self.foreign = foreign
        self.subjects = subjects
        self.prefixes = prefixes ?? (overruns > 0 || subjects.contains(.route) ? .everything : .none)
        self.noticed = noticed
        self.author = author
    }

    /// Whether anything may have changed.
    package var isRelevant: Bool { messages > 0 || isIncomplete }

    /// Whether nothing was heard at all.
    package var isEmpty: Bool { !isRelevant && foreign == 0 && failure == nil }

    package mutating func add(_ other: EventBurst) {
        messages += other.messages
        overruns += other.overruns
        isIncomplete = isIncomplete || other.isIncomplete
        foreign += other.foreign
        subjects.formUnion(other.subjects)
        prefixes.formUnion(other.prefixes)
        author.formUnion(other.author)
        failure = failure ?? other.failure
        noticed = noticed ?? other.noticed
        completed = other.completed ?? completed
    }
}

/// The changes that a burst may stand for.
extension EventBurst {
    /// The netlink port of the process that took something away, where that is all that was heard of: nil where messages are missing,
    /// others changed something, too, or a link or a gateway did.
    package var remover: UInt32? {
        guard !isIncomplete, subjects.contains(.removal),
            subjects.isSubset(of: [.address, .route, .defaultRoute, .rule, .nextHop, .addition, .removal]),
            case .port(let port) = author
        else { return nil }
        return port
    }

    /// Whether all messages are about routes and their gateways, so that the destinations determine the targets concerned.
    package var isOnlyRoutes: Bool {
        !isIncomplete && !subjects.isDisjoint(with: [.route, .neighbour])
            && subjects.isSubset(of: [.route, .neighbour, .defaultRoute, .addition, .removal])
    }

    /// Whether an interface may be another than before.
    package var mayChangeInterfaces: Bool { isIncomplete || subjects.contains(.link) }

    /// Whether names may have other addresses. A new path may lead to other name servers.
    package var mayChangeNames: Bool {
        isIncomplete || !subjects.isDisjoint(with: [.link, .address, .defaultRoute, .rule, .nextHop, .configuration])
    }
}

// MARK: - Decoding

extension EventBurst {
    /// The maximum number of bytes that are read of a message.
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

    /// Notes that messages may have been lost without an error.
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
        author.formUnion(Author(port: header.nlmsg_pid))
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

extension EventBurst {
    /// The author of changes according to the messages. A port is mostly the number of a process, and proves nothing.
    ///
    /// C counterpart: `nlmsg_pid` of `nlmsghdr`, netlink(7).
    package enum Author: Hashable, Sendable {
        /// The kernel, or unknown. Consequences of a process's change have no port, such as the routes
        /// that go with an address.
        case kernel
        /// One process, by the netlink port it asked from.
        case port(UInt32)
        /// Several of them.
        case several

        init(port: UInt32) {
            self = port == 0 ? .kernel : .port(port)
        }

        mutating func formUnion(_ other: Author) {
            switch (self, other) {
            case (_, .kernel): break
            case (.kernel, _): self = other
            default: if self != other { self = .several }
            }
        }
    }
}

/// The destinations of routes that were heard of: none, a few, or everything when they are many or not to be made out.
package struct ChangedPrefixes: Hashable, Sendable {
    /// How many are kept apart.
    package static let limit = 64

    package static let none = ChangedPrefixes()
    /// Any destination, of either family.
    package static let everything = ChangedPrefixes(isEverything: true)

    /// In the order in which they were heard of first, each once; empty when it may be everything.
    package private(set) var list: [AddressPrefix] = []
    package let isEverything: Bool

    private init(isEverything: Bool = false) {
        self.isEverything = isEverything
    }

    package var isEmpty: Bool { list.isEmpty && !isEverything }

    /// Whether a route to any of these may carry packets to `address`.
    package func mayConcern(_ address: WireAddress) -> Bool {
        isEverything || list.contains { $0.contains(address) }
    }

    package mutating func insert(_ prefix: AddressPrefix) {
        if isEverything || list.contains(prefix) { return }
        if list.count == Self.limit {
            self = .everything
        } else {
            list.append(prefix)
        }
    }

    package mutating func formUnion(_ other: ChangedPrefixes) {
        if other.isEverything { self = .everything }
        for prefix in other.list { insert(prefix) }
    }
}

extension ChangedPrefixes: ExpressibleByArrayLiteral {
    package init(arrayLiteral prefixes: AddressPrefix...) {
        self.init()
        for prefix in prefixes { insert(prefix) }
    }
}
