import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import Netlink

/// Stands before the caller's delegate for one attempt: learns whether anything was sent, and holds an answer that may be retried
/// until it is decided what becomes of it.
///
/// While an answer is held the client reads no more of it. Called on the event loop of the task, as any delegate.
final class AttemptDelegate<Inner: HTTPClientResponseDelegate>: HTTPClientResponseDelegate {
    typealias Response = Inner.Response

    fileprivate enum Fate {
        case told, held(EventLoopPromise<Void>), discarded(bytes: Int)
    }

    fileprivate struct State {
        var hasSent = false
        var hasBegunBody = false
        var head: HTTPResponseHead?
        var fate = Fate.told
    }

    /// The longest body that is read to its end so that the connection can be used again.
    static var discardedBytes: Int { 65536 }

    private let inner: Inner
    let statuses: Set<Int>
    private let state = Locked(State())

    /// Succeeds when an answer is held.
    let whenHeld: EventLoopPromise<Void>

    init(_ inner: Inner, holding statuses: Set<Int>, on eventLoop: any EventLoop) {
        self.inner = inner
        self.statuses = statuses
        whenHeld = eventLoop.makePromise()
    }

    /// Whether anything of the request was sent.
    var hasSent: Bool { state.withLock { $0.hasSent } }

    /// Whether the body was asked for.
    var hasBegunBody: Bool { state.withLock { $0.hasBegunBody } }

    /// The head of the answer; of the latest, where redirects were followed.
    var head: HTTPResponseHead? { state.withLock { $0.head } }

    /// To be told when the body is asked for.
    func bodyBegins() {
        state.withLock { $0.hasBegunBody = true }
    }

    /// Lets the caller's delegate have the answer that is held.
    func tell(_ task: HTTPClient.Task<Response>) {
        let (gate, head) = state.withLock { ($0.open(as: .told), $0.head) }
        guard let gate, let head else { return }
        task.eventLoop.flatSubmit { [inner] in inner.didReceiveHead(task: task, head) }.cascade(to: gate)
    }

    /// Lets the answer that is held run out unseen.
    func discard() {
        state.withLock { $0.open(as: .discarded(bytes: 0)) }?.succeed()
    }

    func didSendRequestHead(task: HTTPClient.Task<Response>, _ head: HTTPRequestHead) {
        state.withLock { $0.hasSent = true }
        inner.didSendRequestHead(task: task, head)
    }

    func didSendRequestPart(task: HTTPClient.Task<Response>, _ part: IOData) {
        inner.didSendRequestPart(task: task, part)
    }

    func didSendRequest(task: HTTPClient.Task<Response>) {
        inner.didSendRequest(task: task)
    }

    func didVisitURL(task: HTTPClient.Task<Response>, _ request: HTTPClient.Request, _ head: HTTPResponseHead) {
        inner.didVisitURL(task: task, request, head)
    }

    func didReceiveHead(task: HTTPClient.Task<Response>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        let isHeld = statuses.contains(Int(head.status.code))
        let gate = isHeld ? task.eventLoop.makePromise(of: Void.self) : nil
        state.withLock { state in
            state.head = head
            if let gate { state.fate = .held(gate) }
        }
        guard let gate else { return inner.didReceiveHead(task: task, head) }
        whenHeld.succeed()
        return gate.futureResult
    }

    func didReceiveBodyPart(task: HTTPClient.Task<Response>, _ buffer: ByteBuffer) -> EventLoopFuture<Void> {
        switch state.withLock({ $0.count(buffer.readableBytes) }) {
        case nil: inner.didReceiveBodyPart(task: task, buffer)
        case let count? where count > Self.discardedBytes: task.eventLoop.makeFailedFuture(DiscardedAnswer())
        case _?: task.eventLoop.makeSucceededVoidFuture()
        }
    }

    func didReceiveError(task: HTTPClient.Task<Response>, _ error: any Error) {
        // Where the answer was held until now, nobody waits at the gate any more.
        let gate = state.withLock { $0.open(as: .told) }
        gate?.fail(error)
        if !isDiscarded { inner.didReceiveError(task: task, error) }
    }

    func didFinishRequest(task: HTTPClient.Task<Response>) throws -> Response {
        if isDiscarded { throw DiscardedAnswer() }
        return try inner.didFinishRequest(task: task)
    }

    private var isDiscarded: Bool {
        state.withLock { state in
            if case .discarded = state.fate { true } else { false }
        }
    }
}

/// How a task ends whose answer is discarded. Nobody sees it.
private struct DiscardedAnswer: Error {}

extension AttemptDelegate.State {
    /// Decides on an answer that is held; nil if none is.
    fileprivate mutating func open(as decision: AttemptDelegate.Fate) -> EventLoopPromise<Void>? {
        guard case .held(let gate) = fate else { return nil }
        fate = decision
        return gate
    }

    /// Counts a part of a body that is discarded; nil for one that is not.
    fileprivate mutating func count(_ bytes: Int) -> Int? {
        guard case .discarded(let before) = fate else { return nil }
        fate = .discarded(bytes: before + bytes)
        return before + bytes
    }
}
