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
    /// - Throws: `.noSuchProcess` as the cause where there is none.
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
        // Had it ended before, this might be the namespace of whoever got its number.
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
