import LinuxSupport

/// A netlink socket of a network namespace, as the kernel lists it in /proc/net/netlink (`netlink(7)`).
package struct ListedSocket: Equatable, Sendable {
    /// The netlink family; `NETLINK_ROUTE` is 0 (the column Eth).
    package let family: Int
    /// 0 for the kernel's own sockets (the column Pid).
    package let port: UInt32
    /// Messages the kernel could not deliver.
    package let drops: Int
    package let inode: UInt64

    /// The line does not begin with a socket.
    private init?(row: Substring) {
        let columns = row.split(separator: " ")
        guard columns.count == 10, let family = Int(columns[1]), let port = UInt32(columns[2]),
            let drops = Int(columns[8]), let inode = UInt64(columns[9])
        else { return nil }
        (self.family, self.port, self.drops, self.inode) = (family, port, drops, inode)
    }

    /// The sockets of a list's text, each of them once: when other namespaces make many sockets meanwhile, the kernel
    /// resizes the table they all share, begins anew and lists some twice.
    package static func all(listedIn text: String) -> [ListedSocket] {
        let rows = text.split(separator: "\n").compactMap { ListedSocket(row: $0) }
        return Array(Dictionary(rows.map { ($0.inode, $0) }) { $1 }.values)
    }

    /// The sockets of the calling thread's network namespace.
    package static func all() throws -> [ListedSocket] {
        let path = "/proc/thread-self/net/netlink"
        guard let text = TextFile.read(path) else { throw LabError("\(path) cannot be read") }
        return all(listedIn: text)
    }
}
