import FoundationEssentials
import LinuxSupport

/// Reads a request to its end, and makes elements of the pieces. If it is released before the end, the request is cancelled, or left
/// to another reader.
package struct StreamReader<Element: Sendable, Failure: RequestFailure>: Sendable {
    private let source: Source
    private var decoder: PieceDecoder<Element, Failure>
    private var ready: ArraySlice<Result<Element, Failure>> = []

    /// Creates a reader that cancels the request when it is released. If `cancels` is false, another reader can continue.
    package init(_ request: DataStreamRequest, _ decoder: PieceDecoder<Element, Failure>, cancels: Bool = true) {
        source = Source(request, cancels)
        self.decoder = decoder
    }

    /// A Boolean value that indicates whether this object reads the request. Only the first reader of a request does.
    package var isReader: Bool { source.request != nil }

    /// Returns the next element, or its error, after which the next one can be read; nil at the end, and if there is another reader.
    package mutating func next() async -> Result<Element, Failure>? {
        while true {
            if let element = ready.popFirst() {
                source.request?.didParse(element)
                return element
            }
            guard let request = source.request else { return nil }
            guard let piece = try? await request.next() else {
                // The rest is complete only if the answer is.
                ready = request.completion?.error == nil ? decoder.finish()[...] : []
                guard !ready.isEmpty else { return nil }
                continue
            }
            ready = decoder.decode(piece)[...]
        }
    }

    /// Returns the next element; nil at the end. The first one that cannot be read ends the request.
    mutating func nextElement() async throws(AFError) -> Element? {
        guard let request = source.request else { throw .sessionTaskFailed(error: StreamTaken()) }
        switch await next() {
        case .success(let element)?: return element
        case .failure(let error)?:
            request.cancel()
            ready = []
            throw error.requestError
        case nil:
            if let error = request.completion?.error { throw error }
            return nil
        }
    }

    private final class Source: Sendable {
        /// The request to read from; nil if there is another reader.
        let request: DataStreamRequest?

        private let cancels: Bool

        init(_ request: DataStreamRequest, _ cancels: Bool) {
            self.request = request.take() ? request : nil
            self.cancels = cancels
        }

        deinit { if cancels { request?.cancel() } else { request?.leave() } }
    }
}

/// The reason why an element cannot be read: `Never` or ``AFError``.
package protocol RequestFailure: Error {
    /// The failure as the error of a request.
    var requestError: AFError { get }
}

extension AFError: RequestFailure {
    package var requestError: AFError { self }
}

extension Never: RequestFailure {
    package var requestError: AFError { switch self {} }
}

/// Passes elements from one task to another, one at a time. The giver waits until the previous element was taken.
///
/// One task sends, and one task receives.
final class HandoverChannel<Element: Sendable>: Sendable {
    private enum State {
        case idle
        /// An element waits for the taker.
        case offered(Element, CheckedContinuation<Bool, Never>)
        /// The receiver waits for an element.
        case wanted(CheckedContinuation<Element?, Never>)
        case over
    }

    private let state = Locked(State.idle)

    /// Sends an element, and waits until it was received.
    ///
    /// - Returns: True if the receiver accepts more elements.
    func give(_ element: Element) async -> Bool {
        await withCheckedContinuation { giver in
            let (taker, isRefused): (CheckedContinuation<Element?, Never>?, Bool) = state.withLock { state in
                switch state {
                case .wanted(let taker):
                    state = .idle
                    return (taker, false)
                case .idle:
                    state = .offered(element, giver)
                    return (nil, false)
                case .offered, .over: return (nil, true)
                }
            }
            taker?.resume(returning: element)
            if taker != nil || isRefused { giver.resume(returning: !isRefused) }
        }
    }

    /// Returns the next element; nil at the end.
    func take() async -> Element? {
        await withCheckedContinuation { taker in
            let (element, giver, isRefused): (Element?, CheckedContinuation<Bool, Never>?, Bool) = state.withLock {
                state in
                switch state {
                case .offered(let element, let giver):
                    state = .idle
                    return (element, giver, false)
                case .idle:
                    state = .wanted(taker)
                    return (nil, nil, false)
                case .wanted, .over: return (nil, nil, true)
                }
            }
            giver?.resume(returning: true)
            if giver != nil || isRefused { taker.resume(returning: element) }
        }
    }

    /// Ends it. An element that was offered is dropped.
    func end() {
        let before = state.withLock { state in
            defer { state = .over }
            return state
        }
        switch before {
        case .offered(_, let giver): giver.resume(returning: false)
        case .wanted(let taker): taker.resume(returning: nil)
        case .idle, .over: break
        }
    }
}
