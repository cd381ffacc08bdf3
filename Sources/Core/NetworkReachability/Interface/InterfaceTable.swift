import Netlink

/// What is known of interfaces: their types, which seldom change and may cost system calls to find out.
///
/// Good until a link changes; whoever keeps one must begin a new one then.
struct InterfaceTable: Sendable {
    /// An interface and the flags it lends to a path over it.
    struct Entry: Hashable, Sendable {
        var interface: NetworkInterface
        var flags: NetworkReachabilityFlags
    }

    /// A handful, the interfaces that packets leave through.
    private var entries: [(link: Link, entry: Entry)] = []

    mutating func entry(for link: Link, kernel: any KernelConnection) -> Entry {
        let place = entries.firstIndex { $0.link.index == link.index }
        if let place, entries[place].link == link { return entries[place].entry }
        let entry = Self.classify(link, kernel: kernel)
        if let place { entries[place] = (link, entry) } else { entries.append((link, entry)) }
        return entry
    }

    private static func classify(_ link: Link, kernel: any KernelConnection) -> Entry {
        // A link that cannot be asked about any more is as good as gone: the next question of the evaluation says so.
        let lookup = LinkLookup(
            link: { index in try? kernel.link(index: index) },
            ports: { controller in ((try? kernel.links()) ?? []).filter { $0.controllerIndex == controller } },
            hardware: kernel.hardware(of:)
        )
        return entry(for: link, using: lookup)
    }

    static func entry(for link: Link, using lookup: LinkLookup) -> Entry {
        let (found, underlying) = InterfaceClassifier.classify(link, using: lookup)
        var interface = NetworkInterface(link, found.type)
        interface.underlying = underlying.map { lower in
            NetworkInterface(lower, InterfaceClassifier.classify(lower, using: lookup).class.type)
        }
        var flags: NetworkReachabilityFlags = found.isWWAN ? .isWWAN : []
        if link.hardwareType == .ppp || link.kind == "ppp" { flags.insert(.transientConnection) }
        return Entry(interface: interface, flags: flags)
    }
}

extension NetworkInterface {
    fileprivate init(_ link: Link, _ type: InterfaceType) {
        self.init(index: link.index, name: link.name, type: type)
    }
}
