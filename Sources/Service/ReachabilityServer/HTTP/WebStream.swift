import LinuxPrimitives
package import NIOCore
import NIOHTTP1

/// An answer that goes on: bytes are sent as there are any, until one of both sides ends it.
///
/// Nobody waits for a client that reads slowly: what it has not taken is kept up to a limit, and beyond it the connection is ended.
/// Its functions may be called on any thread, and under any lock: nothing is written before they return.
package final class WebStream: Sendable {
    private struct State {
        /// What was sent and not taken yet.
        var bytes = 0
        var writes = 0
        var hasEnded = false
    }

    private let channel: any Channel
    private let limits: WebLimits
    private let statistics: Locked<WebStatistics>
    private let state = Locked(State())

    init(_ channel: any Channel, _ limits: WebLimits, _ statistics: Locked<WebStatistics>) {
        (self.channel, self.limits, self.statistics) = (channel, limits, statistics)
        statistics.withLock { $0.streams += 1 }
        channel.closeFuture.whenComplete { _ in statistics.withLock { $0.streams -= 1 } }
    }

    /// Calls an action once, when the connection has ended.
    package func whenEnded(_ action: @escaping @Sendable () -> Void) {
        channel.closeFuture.whenComplete { _ in action() }
    }

    /// Sends nothing more; whoever calls it writes the end.
    func finish() { state.withLock { $0.hasEnded = true } }

    /// Sends bytes, unless too much waits for the client already: then the connection is ended.
    ///
    /// - Parameter isCounted: False for what a client is sent first, however much it is.
    package func send(_ bytes: ByteBuffer, isCounted: Bool = true) {
        let length = bytes.readableBytes
        let fits = state.withLock { state -> Bool? in
            guard !state.hasEnded else { return nil }
            guard isCounted else { return true }
            state.bytes += length
            state.writes += 1
            state.hasEnded = state.bytes > limits.streamBytes || state.writes > limits.streamWrites
            return !state.hasEnded
        }
        guard let fits else { return }
        let channel = channel
        guard fits else {
            statistics.withLock { $0.slowStreams += 1 }
            return channel.eventLoop.execute { channel.close(promise: nil) }
        }
        channel.eventLoop.execute { [state] in
            // Nothing comes after the end.
            guard !state.withLock(\.hasEnded) else { return }
            channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(bytes))).whenComplete { _ in
                guard isCounted else { return }
                state.withLock { state in
                    state.bytes -= length
                    state.writes -= 1
                }
            }
        }
    }
}

/// Told to each connection when the server ends: an answer that goes on is over.
struct ServerEnding {}
