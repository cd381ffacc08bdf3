import CLinux
import Glibc

/// A reference to a network namespace: a file, which may later be bound to another namespace, or a process, which may
/// later move to another one.
package struct NamespaceReference: Sendable {
    /// The path of the file: the name under `/run/netns`, or `/proc/PID/ns/net`.
    package let path: String
    /// The process of the file; nil for a reference by file.
    package let process: ProcessHandle?

    /// The namespace of this process.
    package static let ofProcess = NamespaceReference(path: "/proc/self/ns/net")

    /// The namespace of this process, if the calling thread is in another one; nil if both are the same.
    package static var ofProcessIfDifferent: NamespaceReference? {
        NamespaceIdentity.current == NamespaceIdentity.ofProcess ? nil : ofProcess
    }

    package init(path: String) {
        self.path = path
        process = nil
    }

    /// Creates a reference to the namespace of a process. It follows the process to another namespace.
    ///
    /// - Throws: An error with the cause `.noSuchProcess` if the process does not exist.
    package init(process number: Int32) throws(NamespaceError) {
        do throws(SystemError) {
            process = try ProcessHandle(number)
        } catch {
            throw NamespaceError("find process \(number)", error)
        }
        path = "/proc/\(number)/ns/net"
    }

    /// True if the reference still leads to the given namespace.
    package func leads(to identity: NamespaceIdentity?) -> Bool {
        let now = try? NamespaceIdentity(path: path)
        guard let process else { return now == identity }
        // The process is checked after the file, because after its end the file may belong to another process.
        if process.hasEnded { return false }
        // If the namespace is no longer readable, the process is assumed to be in the same namespace.
        return now == nil || now == identity
    }

    /// Opens a descriptor of the namespace. The descriptor keeps the namespace alive.
    func open() throws(NamespaceError) -> Descriptor {
        let file: Descriptor
        do throws(SystemError) {
            file = try .open(path)
        } catch {
            throw refusal(error.isShortage ? missing ?? error : error)
        }
        // If the process had ended before, the file might belong to another process with the same number.
        if let process, process.hasEnded { throw refusal(.noSuchProcess) }
        return file
    }

    /// The error of a missing file; nil if the file exists. Without a free descriptor, open(2) fails before it checks
    /// the path.
    private var missing: SystemError? {
        do throws(SystemError) {
            _ = try NamespaceIdentity(path: path)
            return nil
        } catch {
            return error
        }
    }

    /// Returns the error of opening the namespace, with the missing capability.
    private func refusal(_ cause: SystemError) -> NamespaceError {
        if let process {
            let attempt = "open the network namespace of process \(process.number)"
            if process.hasEnded { return NamespaceError(attempt, .noSuchProcess) }
            // The process exists, so a missing file is hidden (`hidepid`, proc(5)).
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
    /// True if the error is a temporary lack of descriptors or memory.
    fileprivate var isShortage: Bool { [EMFILE, ENFILE, ENOMEM].contains(rawValue) }
}

/// The identity of a network namespace.
///
/// C counterpart: the device and inode of `/proc/thread-self/ns/net` and `/proc/self/ns/net`, `namespaces(7)`.
package struct NamespaceIdentity: Hashable, Sendable {
    package let device: UInt64
    package let inode: UInt64

    /// The namespace of the calling thread; nil if /proc is not mounted.
    package static var current: NamespaceIdentity? { try? NamespaceIdentity(path: "/proc/thread-self/ns/net") }

    /// The namespace of the first thread of this process; nil if /proc is not mounted.
    package static var ofProcess: NamespaceIdentity? { try? NamespaceIdentity(path: NamespaceReference.ofProcess.path) }

    /// Reads the identity of the namespace at `path`, for example `/run/netns/blue`.
    package init(path: String) throws(SystemError) {
        var status = stat()
        guard stat(path, &status) == 0 else { throw .current }
        self.init(status)
    }

    /// Reads the identity of the namespace of a descriptor.
    init(of file: borrowing Descriptor) throws(SystemError) {
        self.init(try file.status())
    }

    private init(_ status: stat) {
        device = UInt64(status.st_dev)
        inode = UInt64(status.st_ino)
    }
}

/// Functions that enter a network namespace. The calling thread cannot return, so it must end there.
///
/// C counterpart: `setns(2)` with CLONE_NEWNET.
package enum NamespaceEntry {
    /// Runs `body` on a new thread inside a namespace, with the identity of the namespace as its argument. The
    /// reference may lead to another namespace a moment later. A socket that `body` opens stays in the namespace.
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

    /// Moves the calling thread into a namespace, and returns the identity of the namespace. The thread must end soon,
    /// or be the only thread of a program that stays there.
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

    /// Moves the calling thread into the namespace of a descriptor. The thread must end soon.
    package static func enter(_ namespace: borrowing Descriptor) throws(SystemError) {
        guard clinux_setns(namespace.number, CInt(clinux_clone_newnet)) == 0 else {
            throw .current
        }
    }
}

/// An error of entering a network namespace, with the failed step and the system's error.
package struct NamespaceError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The step, as the text after "cannot", for example `find process 7`.
    package let attempt: String

    /// The system's error.
    package let cause: SystemError

    /// The capability that the step requires, if it is missing.
    package let capability: Capability?

    /// True if the cause is a temporary lack of descriptors, memory or threads.
    package let isShortage: Bool

    package init(_ attempt: String, _ cause: SystemError, isShortage: Bool = false, capability: Capability? = nil) {
        (self.attempt, self.cause, self.isShortage, self.capability) = (attempt, cause, isShortage, capability)
    }

    /// A namespace may have any name, so the text is escaped.
    package var description: String { "cannot \(attempt.printable): \(cause)" }
}
