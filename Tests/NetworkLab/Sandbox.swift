internal import CNetworkLab
import Glibc
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
