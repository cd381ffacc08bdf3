import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import ReachabilityRetry

extension HTTPClientResponse {
    /// The longest body that is read to its end so that the connection can be used again; of what is longer, or slower, the
    /// connection is closed.
    static let discardedBytes = 65536
    static let discardTime = Duration.milliseconds(50)

    /// Lets go of an answer nobody will read.
    func discard() async {
        let length = headers.first(name: "Content-Length").flatMap { Int($0) }
        if let length, length > Self.discardedBytes { return }
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                var count = 0
                // A body that breaks off is let go of, too.
                do {
                    for try await part in body {
                        count += part.readableBytes
                        if count > Self.discardedBytes { return }
                    }
                } catch {}
            }
            group.addTask { try? await ContinuousClock().sleep(for: Self.discardTime) }
            await group.next()
            group.cancelAll()
        }
    }
}
