import Dispatch
import LinuxSupport
import Testing

@testable import ReachabilityRequests

/// Requests that are cancelled before the response, and the handlers that receive the end.
struct CancellationTests {
    @Test func `cancel ends a request that waits for its response`() async throws {
        try await withServer({ _ in .silence }) { lab in
            let request = try lab.session().request(lab.server.url())
            async let response = request.serializingData().response
            for await _ in lab.server.arrivals { break }
            #expect(request.state == .resumed)
            request.cancel()
            #expect(await response.error?.isExplicitlyCancelledError == true)
            #expect(await response.error?.underlyingError is CancellationError)
            #expect(request.state == .cancelled)
        }
    }

    @Test func `the head of a response is kept if its body is cancelled or interrupted`() async throws {
        var cut = Reply("begin", fields: ["X-Own": "1"])
        (cut.length, cut.closes) = (1000, true)
        var stalled = cut
        (stalled.closes, stalled.stalls) = (false, true)
        try await withServer({ [cut, stalled] in $0.path == "/cut" ? cut : stalled }) { lab in
            let session = try lab.session()
            for kind in ["data", "download", "stream"] {
                let cutURL = lab.server.url("/cut")
                let url = lab.server.url()
                let heads: [HTTPURLResponse?]
                if kind == "stream" {
                    let broken = session.streamRequest(cutURL, method: .post)
                    let cancelled = session.streamRequest(url)
                    await #expect(throws: AFError.self) { for try await _ in broken {} }
                    await #expect(throws: AFError.self) { for try await _ in cancelled { cancelled.cancel() } }
                    heads = [broken.completion?.response, cancelled.completion?.response]
                } else {
                    let isData = kind == "data"
                    let broken: any SerializedRequest =
                        isData ? session.request(cutURL, method: .post) : session.download(cutURL, method: .post)
                    let cancelled: any SerializedRequest = isData ? session.request(url) : session.download(url)
                    _ = cancelled.addResponseHandler { [weak cancelled] _ in _ = cancelled?.cancel() }
                    heads = [
                        await broken.serializingData().response.response,
                        await cancelled.serializingData().response.response,
                    ]
                    #expect(cancelled.isCancelled, "\(kind)")
                }
                #expect(heads.map { $0?.headers["X-Own"] } == ["1", "1"], "\(kind)")
            }
        }
    }

    @Test func `a request or download in a cancelled task is cancelled`() async throws {
        try await withServer({ _ in .silence }) { lab in
            let session = try lab.session()
            let requests: [any SerializedRequest] = [
                session.request(lab.server.url()), session.download(lab.server.url()),
            ]
            for request in requests {
                let isCancelled = await Task {
                    withUnsafeCurrentTask { $0?.cancel() }
                    let error = await request.serializingData().response.error
                    return request.isCancelled && error?.isExplicitlyCancelledError == true
                }.value
                #expect(isCancelled)
            }
        }
    }

    @Test func `a request that was cancelled before it was sent is never sent`() async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            let request = try lab.session(startRequestsImmediately: false).request(lab.server.url()).cancel()
            #expect(
                await request.serializingData().response.error?
                    .isExplicitlyCancelledError == true
            )
            #expect(lab.server.seen.isEmpty)
        }
    }

    @Test func `cancel after the end has no effect`() async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            let request = try lab.session().request(lab.server.url())
            _ = try await request.serializingString().value
            request.cancel()
            #expect(try await request.serializingString().value == "x")
            #expect(request.state == .finished)
        }
    }

    @Test func `the work is cancelled when its last waiting task is cancelled`() async {
        let (began, start) = AsyncStream.makeStream(of: Void.self)
        let isCancelled = Locked(false)
        let exchange = Exchange(cancelled: "cancelled")
        exchange.start {
            start.yield()
            while !Task.isCancelled { await Task.yield() }
            isCancelled.withLock { $0 = true }
            return "done"
        }
        let first = Task { await exchange.value() }
        for await _ in began { break }
        let second = Task { await exchange.value() }
        while exchange.waiters < 2 { await Task.yield() }
        first.cancel()
        #expect(await first.value == "cancelled")
        #expect(exchange.result == nil)
        second.cancel()
        #expect(await second.value == "cancelled")
        while !isCancelled.withLock({ $0 }) { await Task.yield() }
        #expect(await exchange.value() == "cancelled")
    }

    @Test func `one exchange serves all waiting tasks`() async {
        let count = Locked(0)
        let exchange = Exchange(cancelled: 0)
        await withTaskGroup(of: Int.self) { group in
            for _ in 0..<100 {
                group.addTask {
                    exchange.start {
                        count.withLock { $0 += 1 }
                        return 1
                    }
                    return await exchange.value()
                }
            }
            for await value in group { #expect(value == 1) }
        }
        #expect(count.withLock { $0 } == 1)
    }

    @Test func `handlers are called on their queues in the order in which they were added`() async throws {
        try await withServer({ _ in Reply("[1]") }) { lab in
            let queue = DispatchQueue(label: "test")
            let order = Locked<[String]>([])
            let request = try lab.session().request(lab.server.url())
            await withCheckedContinuation { continuation in
                request.responseString(queue: queue) { response in
                    dispatchPrecondition(condition: .onQueue(queue))
                    order.withLock { $0.append(response.value ?? "") }
                }
                .responseData { _ in order.withLock { $0.append("data") } }
                .responseDecodable(of: [Int].self, queue: queue) { response in
                    order.withLock { $0.append("\(response.value ?? [])") }
                    continuation.resume()
                }
            }
            #expect(order.withLock { $0 } == ["[1]", "data", "[1]"])
            #expect(lab.server.seen.count == 1)
        }
    }

    @Test func `a handler receives the error of a cancellation`() async throws {
        try await withServer({ _ in .silence }) { lab in
            let request = try lab.session().request(lab.server.url())
            let isCancelled = await withCheckedContinuation { continuation in
                request.responseData { continuation.resume(returning: $0.error?.isExplicitlyCancelledError) }
                request.cancel()
            }
            #expect(isCancelled == true)
        }
    }
}
