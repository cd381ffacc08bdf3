package import Netlink

/// What is known of interfaces: their types, which seldom change and may cost system calls to find out.
///
/// Good until a link changes; whoever keeps one must begin a new one then.
package struct InterfaceTable {
    /// An interface and the flags it lends to a path over it.
    package struct Entry: Hashable, Sendable {
        package var interface: NetworkInterface
        package var flags: NetworkReachabilityFlags
    }

    /// The interfaces that packets leave through.
    private var entries: [UInt32: (link: Link, entry: Entry)] = [:]

    package init() {}

    package mutating func entry(for link: Link, _ answers: inout Answers) throws(MissingAnswers) -> Entry {
        if let known = entries[link.index], known.link == link { return known.entry }
        let (found, underlying) = try answers.classify(link)
        var interface = NetworkInterface(link, found.type)
        for lower in underlying {
            interface.underlying.append(NetworkInterface(lower, try answers.classify(lower).class.type))
        }
        var flags: NetworkReachabilityFlags = found.isWWAN ? .isWWAN : []
        if link.hardwareType == .ppp || link.kind == "ppp" { flags.insert(.transientConnection) }
        let entry = Entry(interface: interface, flags: flags)
        entries[link.index] = (link, entry)
        return entry
    }
}

extension NetworkInterface {
    fileprivate init(_ link: Link, _ type: InterfaceType) {
        self.init(index: link.index, name: link.name, type: type)
    }
}
