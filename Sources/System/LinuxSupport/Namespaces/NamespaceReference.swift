import CLinux
import Glibc

/// What leads to a network namespace: a file, which may lead to another one tomorrow, or a process, which may go there.
package struct NamespaceReference: Sendable {
    /// The file: the name under `/run/netns`, or `/proc/PID/ns/net`.
    package let path: String
    /// The process the file belongs to; nil where the file is all there is.
    package let process: ProcessHandle?

    /// The process's own namespace.
    package static let ofProcess = NamespaceReference(path: "/proc/self/ns/net")

    /// The process's own namespace where the calling thread is in another one; nil where no thread has to go there.
    package static var ofProcessElsewhere: NamespaceReference? {
        NamespaceIdentity.current == NamespaceIdentity.ofProcess ? nil : ofProcess
    }

    package init(path: String) {
        self.path = path
        process = nil
    }

    /// The namespace of a process, also after it has moved to another one.
    ///
    /// - Throws: `.noSuchProcess` as the cause if there is no such process.
    package init(process number: Int32) throws(NamespaceError) {
        do throws(SystemError) {
            process = try ProcessHandle(number)
        } catch {
            throw NamespaceError("find process \(number)", error)
        }
        path = "/proc/\(number)/ns/net"
    }

    /// Whether this still leads to the namespace that it led to before.
    package func leads(to identity: NamespaceIdentity?) -> Bool {
        let now = try? NamespaceIdentity(path: path)
        guard let process else { return now == identity }
        // Asked for after the file, which from the end on may be that of another process.
        if process.hasEnded { return false }
        // A process whose namespace is no longer shown to us is still somewhere, and most likely where it was.
        return now == nil || now == identity
    }

    /// A descriptor of the namespace. It keeps the namespace alive.
    func open() throws(NamespaceError) -> Descriptor {
        let file: Descriptor
        do throws(SystemError) {
            file = try .open(path)
        } catch {
            throw refusal(error.isShortage ? missing ?? error : error)
        }
        // If it had ended before, this might be the namespace of a process with the same number.
        if let process, process.hasEnded { throw refusal(.noSuchProcess) }
        return file
    }

    /// Why there is no file; nil where there is one. Without a descriptor to spare, opening does not even look.
    private var missing: SystemError? {
        do throws(SystemError) {
            _ = try NamespaceIdentity(path: path)
            return nil
        } catch {
            return error
        }
    }

    /// Why the namespace cannot be opened, and what that would take.
    private func refusal(_ cause: SystemError) -> NamespaceError {
        if let process {
            let attempt = "open the network namespace of process \(process.number)"
            if process.hasEnded { return NamespaceError(attempt, .noSuchProcess) }
            // There is a process, so a missing file is one that is hidden (`hidepid`, proc(5)).
            let isDenied = [.accessDenied, .notPermitted, .noEntry].contains(cause)
            return NamespaceError(
                attempt,
                cause == .noEntry ? .accessDenied : cause,
                isShortage: cause.isShortage,
                capability: isDenied ? .processTracing : nil
            )
        }
        let isDenied = [.accessDenied, .notPermitted].contains(cause)
        let capability: Capability = path.hasPrefix("/proc/") ? .processTracing : .readSearch
        return NamespaceError(
            "enter the network namespace \(path)",
            cause,
            isShortage: cause.isShortage,
            capability: isDenied ? capability : nil
        )
    }
}

extension SystemError {
    /// Nothing is wrong with what was asked for; there is only no room for it now.
    fileprivate var isShortage: Bool { [EMFILE, ENFILE, ENOMEM].contains(rawValue) }
}

/// Which network namespace something lives in.
///
/// C counterpart: the device and inode of `/proc/thread-self/ns/net` and `/proc/self/ns/net`, `namespaces(7)`.
package struct NamespaceIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    /// The calling thread's namespace; nil where /proc is not mounted.
    package static var current: NamespaceIdentity? { try? NamespaceIdentity(path: "/proc/thread-self/ns/net") }

    /// The process's namespace, which is that of its first thread; nil where /proc is not mounted.
    package static var ofProcess: NamespaceIdentity? { try? NamespaceIdentity(path: NamespaceReference.ofProcess.path) }

    /// The namespace that `path`, for example `/run/netns/blue`, is bound to.
    package init(path: String) throws(SystemError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .current }
        self.init(status)
    }

    /// The namespace of a descriptor.
    init(of file: borrowing Descriptor) throws(SystemError) {
        var status = stat()
        guard fstat(file.number, &status) == 0 else { throw .current }
        self.init(status)
    }

    private init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}

/// Entering other network namespaces, always on a thread that ends there.
///
/// C counterpart: `setns(2)` with CLONE_NEWNET.
package enum NamespaceEntry {
    /// Runs `body` on a thread of its own inside a namespace, and tells it which one that is: what leads there may lead
    /// elsewhere a moment later. A socket opened there stays there.
    package static func run<Value: Sendable>(
        inside namespace: NamespaceReference,
        _ body: @escaping @Sendable (NamespaceIdentity) -> Value
    ) throws(NamespaceError) -> Value {
        let outcome: Result<Value, NamespaceError>
        do {
            outcome = try Thread.run {
                Result { () throws(NamespaceError) in try enter(namespace) }.map(body)
            }
        } catch {
            throw NamespaceError(
                "start a thread to enter the network namespace \(namespace.path)",
                error,
                isShortage: true
            )
        }
        return try outcome.get()
    }

    /// Moves the calling thread into a namespace, and says which one it is. It must be about to end, or be the only one of a program
    /// that stays there.
    @discardableResult
    package static func enter(_ namespace: NamespaceReference) throws(NamespaceError) -> NamespaceIdentity {
        let file = try namespace.open()
        do throws(SystemError) {
            let identity = try NamespaceIdentity(of: file)
            try enter(file)
            return identity
        } catch {
            throw NamespaceError(
                "enter the network namespace \(namespace.path)",
                error,
                capability: error == .notPermitted ? .systemAdministration : nil
            )
        }
    }

    /// Moves the calling thread, which must be about to end, into a namespace by a descriptor of it.
    package static func enter(_ namespace: borrowing Descriptor) throws(SystemError) {
        guard clinux_setns(namespace.number, CInt(clinux_clone_newnet)) == 0 else {
            throw .current
        }
    }
}

/// A failure to enter a network namespace: the attempt and the system's error.
package struct NamespaceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The attempt, as the text after "cannot", for example `find process 7`.
    package let attempt: String

    /// The system's error.
    package let cause: SystemError

    /// The capability that the attempt requires, if it is known to be missing.
    package let capability: Capability?

    /// Whether nothing is wrong with the namespace; there is only no room to enter it now.
    package let isShortage: Bool

    package init(_ attempt: String, _ cause: SystemError, isShortage: Bool = false, capability: Capability? = nil) {
        (self.attempt, self.cause, self.isShortage, self.capability) = (attempt, cause, isShortage, capability)
    }

    /// A namespace may have any name, so the attempt is shown escaped.
    package var description: String { "cannot \(attempt.printable): \(cause)" }
}
