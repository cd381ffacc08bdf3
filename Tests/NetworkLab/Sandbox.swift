import CNetworkLab
import Glibc
import LinuxSupport
import Synchronization

/// Children that may not open netlink sockets, until they may: a seccomp filter that asks us each time.
package final class Sandbox: Sendable {
    private let error: Atomic<CInt>
    private let denied = Atomic(0)

    private init(error: CInt) {
        self.error = Atomic(error)
    }

    /// Runs the body on a thread inside a new sandbox. Only the children it starts are meant to open sockets.
    ///
    /// - Parameter error: what `socket(2)` fails with.
    package static func enter<Value>(
        denyingNetlinkWith error: CInt,
        _ body: () throws -> Value
    ) throws -> (sandbox: Sandbox, value: Value) {
        let sandbox = Sandbox(error: error)
        let value = try LabThread.run {
            let questions = LabDescriptor(try check("seccomp", lab_sandbox_enter()))
            pthread_detach(
                try LabThread.start { [weak sandbox] in
                    while sandbox?.answer(questions.number) == true {}
                }
            )
            return try body()
        }
        return (sandbox, value)
    }

    /// How often a socket was denied.
    package var denials: Int { denied.load(ordering: .acquiring) }

    /// From now on netlink sockets are given.
    package func allow() {
        error.store(0, ordering: .releasing)
    }

    /// Waits a little for a question. Whether there may be more.
    private func answer(_ questions: CInt) -> Bool {
        let error = error.load(ordering: .acquiring)
        let result = lab_sandbox_answer(questions, error, 50)
        if result > 0, error != 0 { denied.add(1, ordering: .releasing) }
        return result >= 0
    }
}

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
