import Foundation
import LinuxSupport
import NetworkLab

@testable import Netlink

/// A network namespace, and a mount namespace with it, that lives as long as a child process which does nothing else.
final class TestNamespace {
    struct Failure: Error {
        let script: String
    }

    static let isPermitted = getuid() == 0

    private let process = Process()
    private let input = Pipe()

    /// Runs `script` in a new namespace, which is complete when this returns.
    init(_ script: String) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["unshare", "--net", "--mount", "sh", "-c", "set -e; \(script); echo ready; read -r end"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        guard output.fileHandleForReading.availableData.starts(with: Data("ready".utf8)) else {
            throw Failure(script: script)
        }
    }

    deinit {
        try? input.fileHandleForWriting.close()
        // A child that was started meanwhile may hold the other end of its input open, and it one of that child's.
        process.terminate()
        process.waitUntilExit()
    }

    var path: String { "/proc/\(process.processIdentifier)/ns/net" }

    /// The network devices of what the child sees as /sys.
    var sysfs: String { "/proc/\(process.processIdentifier)/root/sys/class/net" }

    /// Runs `script` in the namespace and waits for its end.
    func run(_ script: String) throws {
        let child = try Process.run(
            URL(fileURLWithPath: "/usr/bin/env"),
            arguments: ["nsenter", "--net=\(path)", "sh", "-c", script]
        )
        child.waitUntilExit()
        guard child.terminationStatus == 0 else { throw Failure(script: script) }
    }

    /// The namespace's netlink sockets.
    func sockets() throws -> [ListedSocket] {
        try NamespaceEntry.run(inside: NamespaceReference(path: path)) { _ in Result { try ListedSocket.all() } }.get()
    }

    /// Sockets that were opened there.
    func routeSockets() throws -> RouteSockets {
        try NamespaceEntry.ask(inside: NamespaceReference(path: path)) { _ throws(NetlinkError) in try RouteSockets() }
    }
}
