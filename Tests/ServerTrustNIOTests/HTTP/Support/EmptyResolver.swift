import NIOCore
import NIOPosix

/// A resolver that resolves no name.
struct EmptyResolver: Resolver {
    private struct NobodyKnows: Error, CustomStringConvertible {
        let description = "nobody knows"
    }

    private let loop = MultiThreadedEventLoopGroup.singleton.next()

    func initiateAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        loop.makeFailedFuture(NobodyKnows())
    }

    func initiateAAAAQuery(host: String, port: Int) -> EventLoopFuture<[SocketAddress]> {
        loop.makeFailedFuture(NobodyKnows())
    }

    func cancelQueries() {}
}
