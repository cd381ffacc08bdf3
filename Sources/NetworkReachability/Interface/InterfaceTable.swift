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

    private var entries: [Link: Entry] = [:]

    init() {}

    mutating func interface(
        for link: Link, links: inout LinkTable, kernel: any KernelConnection
    ) throws(NetlinkError) -> Entry {
        if let entry = entries[link] { return entry }
        let entry = try Self.classify(link, links: &links, kernel: kernel)
        entries[link] = entry
        return entry
    }

    private static func classify(
        _ link: Link, links: inout LinkTable, kernel: any KernelConnection
    ) throws(NetlinkError) -> Entry {
        let interface = NetworkInterface(index: link.index, name: link.name, type: .ethernet)
        return Entry(interface: interface, flags: [])
    }
}
