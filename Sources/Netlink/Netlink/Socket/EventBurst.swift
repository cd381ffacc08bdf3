import CLinux
package import LinuxSupport

/// The events since the last read. They are a hint that routes may have changed, and are never used as the change
/// itself.
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
        /// A route, rule, next hop or address was removed, perhaps by a batch that will replace it.
        package static let removal = Subjects(rawValue: 1 << 7)
        /// A route, rule, next hop or address was added.
        package static let addition = Subjects(rawValue: 1 << 8)
        /// Another subject, or one that cannot be decoded.
        package static let other = Subjects(rawValue: 1 << 9)
        /// An IPv6 neighbour, which may be a gateway, has failed or answers again.
        package static let neighbour = Subjects(rawValue: 1 << 10)
    }

    /// The number of kernel messages, without those about neighbours that change no route.
    package var messages = 0
    /// The number of reported losses of messages because the buffer was full (ENOBUFS).
    package var overruns = 0
    /// A Boolean value that indicates whether messages may be missing, so that anything may have changed.
    package var isIncomplete = false
    /// The number of messages from other processes. They are ignored.
    package var foreign = 0
    package var subjects: Subjects = []
    /// The author of the changes, for evidence.
    package var author = Author.kernel
    /// The destinations of the routes in the messages. Messages with other subjects have no destination.
    package var prefixes: ChangedPrefixes = .none
    /// The reason why the socket can no longer be read; nil if it can.
    package var failure: SystemError?
    /// The time at which the waiting thread woke up for the first message, on the monotonic clock. Nil if the messages
    /// were read otherwise.
    package var noticed: Duration?
    /// The time at which the last message had been read, on the monotonic clock. Nil for a single message, and if the
    /// messages were read otherwise.
    package var completed: Duration?

    /// Creates a burst.
    ///
    /// - Parameter prefixes: The destinations. If nil: everything if the burst is about routes or messages were lost,
    ///   otherwise none.
    package init(
        messages: Int = 0,
        overruns: Int = 0,
        foreign: Int = 0,
        subjects: Subjects = [],
        prefixes: ChangedPrefixes? = nil,
        noticed: Duration? = nil
    ) {
        self.messages = messages
        self.overruns = overruns
        isIncomplete = overruns > 0
        self.foreign = foreign
        self.subjects = subjects
        self.prefixes = prefixes ?? (overruns > 0 || subjects.contains(.route) ? .everything : .none)
        self.noticed = noticed
    }

    /// A Boolean value that indicates whether anything may have changed.
    package var isRelevant: Bool { messages > 0 || isIncomplete }

    /// A Boolean value that indicates whether nothing was received.
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

/// The changes that a burst may represent.
extension EventBurst {
    /// The netlink port of the process that removed something, if the burst contains nothing else. Nil if messages are
    /// missing, if another process made changes, or if a link or gateway changed.
    package var remover: UInt32? {
        guard !isIncomplete, subjects.contains(.removal),
            subjects.isSubset(of: [.address, .route, .defaultRoute, .rule, .nextHop, .addition, .removal]),
            case .port(let port) = author
        else { return nil }
        return port
    }

    /// A Boolean value that indicates whether all messages are about routes and their gateways. The destinations then
    /// determine the affected targets.
    package var isOnlyRoutes: Bool {
        !isIncomplete && !subjects.isDisjoint(with: [.route, .neighbour])
            && subjects.isSubset(of: [.route, .neighbour, .defaultRoute, .addition, .removal])
    }

    /// A Boolean value that indicates whether an interface may have changed.
    package var mayChangeInterfaces: Bool { isIncomplete || subjects.contains(.link) }

    /// A Boolean value that indicates whether the addresses of names may have changed. A new path may lead to other
    /// name servers.
    package var mayChangeNames: Bool {
        isIncomplete || !subjects.isDisjoint(with: [.link, .address, .defaultRoute, .rule, .nextHop, .configuration])
    }
}

// MARK: - Decoding

extension EventBurst {
    /// The maximum number of bytes of a message that are read.
    static let headLimit = 256

    /// Counts a message from `sender`, a netlink port; 0 is the kernel.
    package mutating func note(_ message: [UInt8], from sender: UInt32) {
        message.withUnsafeBytes { note($0, from: sender) }
    }

    mutating func note(_ datagram: UnsafeRawBufferPointer, from sender: UInt32) {
        if sender == 0 { note(datagram.bytes(from: 0, length: Self.headLimit)) } else { foreign += 1 }
    }

    /// Counts a loss of messages because the buffer was full. Any destination may have changed.
    package mutating func noteLoss() {
        overruns += 1
        noteSilentLoss()
    }

    /// Records that messages may have been lost without an error.
    mutating func noteSilentLoss() {
        isIncomplete = true
        prefixes = .everything
    }

    /// Counts the messages of one datagram. Unknown, truncated and malformed messages also count: an unnecessary hint
    /// costs one evaluation, but a missing one leaves a wrong result.
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

    /// Adds the destination of a route.
    ///
    /// - Parameter body: An `rtmsg`, which begins with the family and the prefix length, and its attributes.
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
    /// The author of changes according to the messages. A port is usually a process ID, but proves nothing.
    ///
    /// C counterpart: `nlmsg_pid` of `nlmsghdr`, netlink(7).
    package enum Author: Hashable, Sendable {
        /// The kernel, or unknown. Consequences of a process's change have no port, for example the removal of routes
        /// after that of an address.
        case kernel
        /// One process, by its netlink port.
        case port(UInt32)
        /// Several processes.
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

/// The destinations of changed routes: none, a few, or everything if there are many or they cannot be decoded.
package struct ChangedPrefixes: Hashable, Sendable {
    /// The maximum number of separate destinations.
    package static let limit = 64

    package static let none = ChangedPrefixes()
    /// Any destination, of either family.
    package static let everything = ChangedPrefixes(isEverything: true)

    /// The destinations in the order of their arrival, without duplicates; empty if the set is everything.
    package private(set) var list: [AddressPrefix] = []
    package let isEverything: Bool

    private init(isEverything: Bool = false) {
        self.isEverything = isEverything
    }

    package var isEmpty: Bool { list.isEmpty && !isEverything }

    /// Returns whether a route to any of these destinations may carry packets to `address`.
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
