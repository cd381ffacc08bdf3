internal import CNetworkLab
import Glibc

/// A throw-away network namespace. It has no name and is gone when it is closed and nothing lives in it any more:
/// no process, no thread and no socket. Needs root, or `unshare -Urnm`.
package final class LabNamespace: Sendable {
    private let descriptor: LabDescriptor

    /// Makes an empty namespace: a loopback device that is down, nothing else.
    package init() throws {
        descriptor = try LabThread.run {
            try check("unshare", lab_unshare_network())
            return LabDescriptor(try check("open", open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)))
        }
    }

    /// A path other processes of the same user can open while the namespace is open.
    package var path: String { "/proc/\(getpid())/fd/\(descriptor.number)" }

    /// Lets the namespace go. Closing twice does nothing.
    package func close() {
        descriptor.close()
    }

    /// Runs the body on a thread inside the namespace and waits for it. Sockets it opens stay in the namespace and
    /// children it starts begin there. It must wake neither tasks nor queues: a thread that is started for them would inherit
    /// the namespace, and stay there to run whatever comes. What has to, runs in a process of its own (`processExitsWith`).
    package func perform<Value>(_ body: () throws -> Value) throws -> Value {
        try LabThread.run {
            try enter()
            return try body()
        }
    }

    /// Runs the body on a thread inside the namespace without blocking the caller's thread. The caller is resumed from outside:
    /// a thread that is started to go on with it would inherit the namespace, and stay there to run whatever comes.
    package func perform<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await LabThread.detached { try self.perform(body) }
    }

    /// The same where a namespace is given, else on a thread of its own where the process is.
    package static func perform<Value: Sendable>(
        in namespace: LabNamespace?,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        guard let namespace else { return try await LabThread.detached(body) }
        return try await namespace.perform(body)
    }

    /// Moves the calling thread into the namespace for good.
    package func enter() throws {
        try check("setns", lab_enter_network(descriptor.number))
    }
}
