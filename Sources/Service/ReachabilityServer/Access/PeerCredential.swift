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
        return credential.map { WebRequest.Way.local(user: $0.user) }
            .flatMapErrorThrowing { _ in .local(user: nil) }
    }
}
