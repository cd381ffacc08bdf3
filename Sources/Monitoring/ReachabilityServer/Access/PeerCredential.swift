import Glibc
import NIOCore

/// Whose process is at the other end of a Unix socket, `struct ucred` of `unix(7)`, which Glibc shows only with _GNU_SOURCE.
struct PeerCredential: Sendable {
    var process: Int32 = 0
    var user: UInt32 = 0
    var group: UInt32 = 0

    /// SO_PEERCRED of `socket(7)`.
    private static let option = SocketOptionName(17)

    /// The way requests of a connection come. To the service in another user namespace all users are nobody.
    static func way(of channel: any Channel) -> EventLoopFuture<WebRequest.Way> {
        guard let socket = channel as? any SocketOptionProvider else {
            return channel.eventLoop.makeSucceededFuture(.local(user: nil))
        }
        let credential: EventLoopFuture<PeerCredential> = socket.unsafeGetSocketOption(
            level: SocketOptionLevel(SOL_SOCKET),
            name: option
        )
        return credential.flatMap { credential in
            PeerGroups.of(socket).map { .local(user: credential.user, groups: [credential.group] + $0) }
        }
        .flatMapErrorThrowing { _ in .local(user: nil) }
    }
}

/// The supplementary groups of the process at the other end of a Unix socket, as they were when it connected.
struct PeerGroups: Sendable {
    /// More than these are more than fit: the process then counts as a member of none.
    private var numbers = InlineArray<1024, UInt32>(repeating: 0)

    /// SO_PEERGROUPS of `socket(7)`, since Linux 4.13.
    private static let option = SocketOptionName(59)

    /// The system does not say how many it has written, so 0, which is root's, is left out.
    static func of(_ socket: any SocketOptionProvider) -> EventLoopFuture<[UInt32]> {
        let groups: EventLoopFuture<PeerGroups> = socket.unsafeGetSocketOption(
            level: SocketOptionLevel(SOL_SOCKET),
            name: option
        )
        return groups.map { groups in groups.numbers.indices.map { groups.numbers[$0] }.filter { $0 != 0 } }
            .flatMapErrorThrowing { _ in [] }
    }
}
