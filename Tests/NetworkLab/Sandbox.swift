import CNetworkLab
import Glibc
import LinuxSupport
import Synchronization

/// A sandbox whose child processes may not open netlink sockets until this is allowed. A seccomp filter notifies this
/// process of each call.
package final class Sandbox: Sendable {
    private let error: Atomic<CInt>
    private let denied = Atomic(0)

    private init(error: CInt) {
        self.error = Atomic(error)
    }

    /// Runs the body on a thread inside a new sandbox. Only its child processes should open sockets.
    ///
    /// - Parameter error: The error of `socket(2)`.
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

    /// The number of denied sockets.
    package var denials: Int { denied.load(ordering: .acquiring) }

    /// Allows netlink sockets from now on.
    package func allow() {
        error.store(0, ordering: .releasing)
    }

    /// Waits briefly for a notification, and answers it. Returns whether more may follow.
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
    /// The port; 0 for the kernel's sockets (the column Pid).
    package let port: UInt32
    /// The number of messages that the kernel could not deliver.
    package let drops: Int
    package let inode: UInt64

    /// Parses a line. Returns nil if it does not begin with a socket.
    private init?(row: Substring) {
        let columns = row.split(separator: " ")
        guard columns.count == 10, let family = Int(columns[1]), let port = UInt32(columns[2]),
            let drops = Int(columns[8]), let inode = UInt64(columns[9])
        else { return nil }
        (self.family, self.port, self.drops, self.inode) = (family, port, drops, inode)
    }

    /// Returns the sockets in the text of a list, each of them once. If other namespaces create many sockets
    /// meanwhile, the kernel resizes its shared table, starts again and lists some sockets twice.
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
