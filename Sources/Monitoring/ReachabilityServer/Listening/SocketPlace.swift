import LinuxSupport

/// The file of a Unix socket while it is listened at. A lock beside it keeps two services from taking it from each other.
final class SocketPlace: Sendable {
    private let path: String
    private let lock: LockFile

    /// Makes the place free: the file of a process that is gone is removed, that of one which lives is not.
    ///
    /// - Throws: ``ListenError``.
    init(_ path: String) throws(ListenError) {
        guard path.utf8.count <= LocalSocket.longestPath else {
            throw ListenError(
                .usage,
                "the path of a socket has at most \(LocalSocket.longestPath) bytes, \(path.printable) has \(path.utf8.count)"
            )
        }
        let what = "cannot listen at \(path.printable)"
        do {
            lock = try LockFile(path + ".lock")
        } catch {
            if error == .tryAgain { throw ListenError(.taken, "\(what): another service listens there") }
            throw ListenError(what, error)
        }
        self.path = path
        let occupant: LocalSocket.Occupant
        do { occupant = try LocalSocket.occupant(of: path) } catch { throw ListenError(what, error) }
        switch occupant {
        case .nothing: break
        case .stale: OwnFile.remove(path)
        case .served: throw ListenError(.taken, "\(what): another program listens there")
        case .foreign: throw ListenError(.taken, "\(what): there is a file that is no socket")
        }
    }

    /// Removes the socket. The lock's file stays: who waits for it has it open.
    func leave() {
        OwnFile.remove(path)
    }
}
