import AsyncHTTPClient
import FoundationEssentials
import LinuxPrimitives
import NIOCore
import NIOHTTP1
import ReachabilityRetry

/// Stands before the caller's delegate for one attempt: learns whether anything was sent, and holds an answer that may be retried
/// until it is decided what becomes of it. Where the client would follow a redirect, it ends the task with the redirect's head: where it
/// leads is a request of its own.
///
/// While an answer is held the client reads no more of it. Called on the event loop of the task, as any delegate.
final class AttemptDelegate<Inner: HTTPClientResponseDelegate>: HTTPClientResponseDelegate {
    typealias Response = Inner.Response

    fileprivate enum Fate {
        case notified, held(EventLoopPromise<Void>), discarded(bytes: Int), redirected
    }

    fileprivate struct State {
        var hasSent = false
        var head: HTTPResponseHead?
        var fate = Fate.notified
    }

    /// The longest body that is read to its end so that the connection can be used again.
    static var discardedBytes: Int { 65536 }

    let inner: Inner
    private let statuses: Set<Int>?
    private let stopsRedirects: Bool
    private let progress: AttemptProgress
    private let state = Locked(State())

    /// Succeeds when an answer is held, or has begun.
    let whenHeld: EventLoopPromise<Void>

    /// - Parameters:
    ///   - inner: The caller's delegate.
    ///   - statuses: The statuses of answers that are held; nil where each is told at once, to a delegate that takes it as it is wanted.
    ///   - stopsRedirects: Whether the client would follow them.
    ///   - progress: Told when the request is sent.
    ///   - eventLoop: One of the client's.
    init(
        _ inner: Inner,
        holding statuses: Set<Int>?,
        stopsRedirects: Bool,
        _ progress: AttemptProgress,
        on eventLoop: any EventLoop
    ) {
        self.inner = inner
        self.statuses = statuses
        self.stopsRedirects = stopsRedirects
        self.progress = progress
        whenHeld = eventLoop.makePromise()
    }

    /// Whether anything of the request was sent.
    var hasSent: Bool { state.withLock { $0.hasSent } }

    /// The head of the answer.
    var head: HTTPResponseHead? { state.withLock { $0.head } }

    /// Whether the task was ended with a redirect.
    var isRedirected: Bool {
        state.withLock { state in
            if case .redirected = state.fate { true } else { false }
        }
    }

    /// What the client follows where it may, 304 and 305 among them.
    private static var redirects: Set<Int> { [301, 302, 303, 304, 305, 307, 308] }

    /// Whether an attempt ends with the beginning of such an answer.
    func endsWithHead(_ status: HTTPResponseStatus) -> Bool { statuses?.contains(Int(status.code)) ?? true }

    /// Lets the caller's delegate have the answer that is held.
    func tell(_ task: HTTPClient.Task<Response>) {
        let (gate, head) = state.withLock { ($0.open(as: .notified), $0.head) }
        guard let gate, let head else { return }
        task.eventLoop.flatSubmit { [inner] in inner.didReceiveHead(task: task, head) }.cascade(to: gate)
    }

    /// Lets the answer that is held run out unseen.
    func discard() {
        state.withLock { $0.open(as: .discarded(bytes: 0)) }?.succeed()
    }

    func didSendRequestHead(task: HTTPClient.Task<Response>, _ head: HTTPRequestHead) {
        progress.send()
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
        guard stopsRedirects, Self.redirects.contains(Int(head.status.code)), head.headers.contains(name: "Location")
        else { return }
        state.withLock { state in
            state.head = head
            state.fate = .redirected
        }
        whenHeld.succeed()
        task.fail(reason: RedirectStop())
    }

    func didReceiveHead(task: HTTPClient.Task<Response>, _ head: HTTPResponseHead) -> EventLoopFuture<Void> {
        let gate = statuses?.contains(Int(head.status.code)) == true ? task.eventLoop.makePromise(of: Void.self) : nil
        state.withLock { state in
            state.head = head
            if let gate { state.fate = .held(gate) }
        }
        if gate != nil || statuses == nil { whenHeld.succeed() }
        return gate?.futureResult ?? inner.didReceiveHead(task: task, head)
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
        let gate = state.withLock { $0.open(as: .notified) }
        gate?.fail(error)
        if !isDiscarded, !isRedirected { inner.didReceiveError(task: task, error) }
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

/// How a task ends whose answer is a redirect. Nobody sees it.
private struct RedirectStop: Error {}

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
