import CNetworkLab
import Glibc
package import LinuxSupport
import Synchronization

/// A temporary network namespace without a name. It ends when it is closed and contains no process, thread or socket.
/// Requires root, or `unshare -Urnm`.
package final class LabNamespace: Sendable {
    private let descriptor: LabDescriptor

    /// Creates a namespace with only a loopback device that is down.
    package init() throws {
        descriptor = try LabThread.run {
            try check("unshare", lab_unshare_network())
            return LabDescriptor(try check("open", open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)))
        }
    }

    /// A path that other processes of the same user can open while the namespace is open.
    package var path: String { "/proc/\(getpid())/fd/\(descriptor.number)" }

    /// Releases the namespace. Calling it twice has no effect.
    package func close() {
        descriptor.close()
    }

    /// Runs the body on a thread inside the namespace and waits for it. Its sockets remain in the namespace, and its
    /// child processes start there. It must not wake tasks or queues, because a thread that is started for them would
    /// inherit the namespace and later run other work there. Code that must do so runs in a separate process
    /// (`processExitsWith`).
    package func perform<Value>(_ body: () throws -> Value) throws -> Value {
        try LabThread.run {
            try enter()
            return try body()
        }
    }

    /// Runs the body on a thread inside the namespace without blocking the caller's thread. The caller is resumed
    /// from outside the namespace. Otherwise a thread that is started for the caller would inherit the namespace.
    package func perform<Value: Sendable>(_ body: @escaping @Sendable () throws -> Value) async throws -> Value {
        try await LabThread.detached { try self.perform(body) }
    }

    /// Runs the body like `perform` in a namespace. Without a namespace, it runs on a separate thread in the
    /// namespace of the process.
    package static func perform<Value: Sendable>(
        in namespace: LabNamespace?,
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        guard let namespace else { return try await LabThread.detached(body) }
        return try await namespace.perform(body)
    }

    /// Moves the calling thread into the namespace permanently.
    package func enter() throws {
        try check("setns", lab_enter_network(descriptor.number))
    }
}

extension LabNamespace {
    /// Starts a program inside the namespace.
    package func start(_ program: String, _ arguments: [String], input: String = "") throws -> LabProcess {
        try perform { try LabProcess(program, arguments, input: input) }
    }

    /// Runs a program inside the namespace to its end. Blocks the thread.
    package func run(_ program: String, _ arguments: [String], input: String = "") throws -> LabProcess.Result {
        try start(program, arguments, input: input).wait()
    }

    /// Runs `ip` commands one after the other in as few processes as possible. Blocks the thread. A command may begin
    /// with `-4` or `-6`.
    package func ip(_ commands: [String]) throws {
        var rest = commands[...]
        while let first = rest.first {
            let family = LabNamespace.family(first)
            let batch = rest.prefix { LabNamespace.family($0) == family }
            rest = rest.dropFirst(batch.count)
            let lines = batch.map { $0.hasPrefix("-") ? $0.dropFirst(3) : $0[...] }.joined(separator: "\n")
            let result = try run("ip", (family.map { [$0] } ?? []) + ["-batch", "-"], input: lines + "\n")
            guard result.status == 0 else {
                throw LabError("ip \(batch.joined(separator: "; ").prefix(300)): \(result.errors)")
            }
        }
    }

    /// Runs `ip` commands one after the other in as few processes as possible. Blocks the thread.
    package func ip(_ commands: String...) throws {
        try ip(commands)
    }

    /// Sets a kernel parameter of the namespace: `sysctl("net.ipv4.ip_forward", "1")`.
    package func sysctl(_ name: String, _ value: String) throws {
        let path = "/proc/sys/" + name.split(separator: ".").joined(separator: "/")
        try perform {
            let file = LabDescriptor(try check("open \(path)", open(path, O_WRONLY | O_CLOEXEC)))
            guard write(file.number, value, value.utf8.count) == value.utf8.count else {
                throw LabError.system("write \(path)")
            }
        }
    }

    private static func family(_ command: String) -> String? {
        ["-4", "-6"].first { command.hasPrefix($0 + " ") }
    }
}

extension LabNamespace {
    /// A Boolean value that indicates whether `nft` is installed.
    package static let hasPacketFilter = (try? LabProcess("nft", ["--version"]).wait().status) == 0

    /// Replaces the rules of `nft(8)` with a chain at a hook. Blocks the thread.
    package func filter(_ hook: String, _ rules: String, type: String = "filter") throws {
        let chain = "chain lab { type \(type) hook \(hook) priority 0; \(rules); }"
        let text = "flush ruleset; table inet lab { \(chain); }\n"
        let result = try run("nft", ["-f", "-"], input: text)
        guard result.status == 0 else { throw LabError("nft: \(result.errors)") }
    }

    /// Returns an engine whose sockets are in the namespace.
    ///
    /// - Parameter asNobody: Whether the sockets belong to the user 65534.
    package func engine(_ limits: EngineLimits = .init(), asNobody: Bool = false) throws -> SocketEngine {
        try SocketEngine(limits: limits) { () throws(SocketError) in
            do {
                try self.enter()
                if asNobody { try LabThread.becomeNobody() }
            } catch {
                throw SocketError(.enterNamespace("\(error)"), .notPermitted)
            }
        }
    }
}

/// A name of a namespace in /run/netns or another directory, as created by `ip netns attach`. It is removed with the
/// object.
package final class NamespaceName: Sendable {
    package let name: String
    package let path: String
    private let removed = Atomic(false)

    package init(_ name: String, in directory: String = "/run/netns", for namespace: LabNamespace) throws {
        self.name = name
        path = directory + "/" + name
        mkdir(directory, 0o755)
        let file = try check("create \(path)", open(path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o444))
        close(file)
        do {
            let target = path
            try namespace.perform {
                _ = try check("mount \(target)", lab_bind_mount("/proc/thread-self/ns/net", target))
            }
        } catch {
            unlink(path)
            throw error
        }
    }

    /// Removes the name like `ip netns delete`. Calling it twice has no effect.
    package func remove() {
        guard !removed.exchange(true, ordering: .acquiringAndReleasing) else { return }
        _ = lab_unmount(path)
        unlink(path)
    }

    deinit {
        remove()
    }
}

/// Files in `/etc/netns/NAME`, which replace those in `/etc` for a named namespace (`ip-netns(8)`). They are removed
/// with the object.
package final class NamespaceSettings: Sendable {
    private let directory: String
    private let names: [String]

    /// Whether this user may create such files. Only the owner of `/etc` may.
    package static var isPermitted: Bool {
        mkdir("/etc/netns", 0o755)
        return access("/etc/netns", W_OK) == 0
    }

    /// - Parameter files: The texts of the files by their names in `/etc`.
    package init(of namespace: NamespaceName, _ files: [String: String]) throws {
        directory = "/etc/netns/\(namespace.name)"
        names = Array(files.keys)
        try check("create \(directory)", mkdir(directory, 0o755))
        for (name, text) in files { try write(text, to: name) }
    }

    /// Writes or replaces a file.
    package func write(_ text: String, to name: String) throws {
        let path = "\(directory)/\(name)"
        let flags = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC
        let file = LabDescriptor(try check("create \(path)", open(path, flags, 0o644)))
        guard Glibc.write(file.number, text, text.utf8.count) == text.utf8.count else {
            throw LabError.system("write \(path)")
        }
    }

    /// Removes the files. Calling it twice has no effect.
    package func remove() {
        for name in names { unlink("\(directory)/\(name)") }
        rmdir(directory)
    }

    deinit {
        remove()
    }
}
