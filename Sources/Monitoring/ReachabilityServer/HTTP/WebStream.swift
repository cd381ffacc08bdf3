import LinuxSupport
package import NIOCore
import NIOHTTP1

/// An answer that goes on: bytes are sent as there are any, until one of both sides ends it.
///
/// A client that reads slowly holds up no other: up to a limit its bytes are kept, and beyond it the connection is ended. Bytes that are sent
/// before the event loop turns are written together. Its functions may be called on any thread, and under any lock: nothing is written
/// before they return.
package final class WebStream: Sendable {
    private struct State {
        /// The number of counted bytes that the client has not taken.
        var bytes = 0
        /// What is written when the event loop turns.
        var pending: [ByteBuffer] = []
        /// How many bytes of it are counted.
        var pendingBytes = 0
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
        enum Step { case nothing, flush, close }
        let step = state.withLock { state -> Step in
            guard !state.hasEnded else { return .nothing }
            if isCounted {
                state.bytes += bytes.readableBytes
                state.pendingBytes += bytes.readableBytes
                state.hasEnded = state.bytes > limits.streamBytes
                if state.hasEnded {
                    state.pending = []
                    return .close
                }
            }
            state.pending.append(bytes)
            return state.pending.count == 1 ? .flush : .nothing
        }
        let channel = channel
        switch step {
        case .nothing: break
        case .flush: channel.eventLoop.execute { self.flush() }
        case .close:
            statistics.withLock { $0.slowStreams += 1 }
            channel.eventLoop.execute { channel.close(promise: nil) }
        }
    }

    /// Writes what was sent since the event loop turned last. Nothing comes after the end.
    private func flush() {
        let (pending, length) = state.withLock { state in
            defer { (state.pending, state.pendingBytes) = ([], 0) }
            return state.hasEnded ? ([], 0) : (state.pending, state.pendingBytes)
        }
        guard let last = pending.last else { return }
        for bytes in pending.dropLast() {
            channel.write(HTTPServerResponsePart.body(.byteBuffer(bytes)), promise: nil)
        }
        channel.writeAndFlush(HTTPServerResponsePart.body(.byteBuffer(last))).whenComplete { [state] _ in
            state.withLock { $0.bytes -= length }
        }
    }
}

/// Told to each connection when the server ends: an answer that goes on is over.
struct ServerEnding {}
