import Dispatch
import FoundationEssentials
import LinuxSupport
import Testing

@testable import ReachabilityRequests

/// Streams of data against a server.
struct DataStreamTests {
    private static let long = Reply(String(repeating: "0123456789", count: 400_000))

    private func all(_ request: DataStreamRequest) async throws -> Data {
        var whole = Data()
        for try await piece in request { whole.append(piece) }
        return whole
    }

    @Test func `a stream delivers all data in order, and then its completion`() async throws {
        try await withServer({ _ in Self.long }) { lab in
            let request = try lab.session().streamRequest(lab.server.url()).validate()
            #expect(request.completion == nil)
            #expect(try await all(request) == Data(Self.long.body))
            let completion = try #require(request.completion)
            #expect(completion.error == nil)
            #expect(completion.response?.statusCode == 200)
            #expect(completion.metrics?.receivedBytes == 4_000_000)
            #expect(completion.metrics?.attempts.count == 1)
        }
    }

    @Test func `an element is handed over after the previous one was taken`() async {
        let (channel, given) = (HandoverChannel<Int>(), Locked(0))
        let giver = Task {
            for number in 1...100 {
                guard await channel.give(number) else { return number }
                given.withLock { $0 = number }
            }
            return 0
        }
        for number in 1...10 {
            #expect(await channel.take() == number)
            #expect(given.withLock { $0 } <= number)
        }
        channel.end()
        #expect(await channel.take() == nil)
        // The end arrived while the eleventh element was offered, or before the twelfth was.
        #expect([11, 12].contains(await giver.value))
    }

    @Test func `a stream is retried until an answer begins, and not after that`() async throws {
        var cut = Reply("begin")
        (cut.length, cut.closes) = (10, true)
        let replies = Replies([Reply(status: 503), cut, Reply("all of it")])
        try await withServer({ _ in replies.next() }) { lab in
            let retrier = Retrier { _, _, _, completion in completion(.retry) }
            let request = try lab.session(interceptor: Interceptor(retriers: [retrier])).streamRequest(lab.server.url())
            var pieces: [Data] = []
            do {
                for try await piece in request { pieces.append(piece) }
                Issue.record("the stream ended without an error")
            } catch {
                #expect((error as? AFError)?.isSessionTaskError == true)
            }
            #expect(pieces == [Data("begin".utf8)])
            #expect(lab.server.seen.count == 2)
            #expect(request.completion?.error?.isSessionTaskError == true)
        }
    }

    @Test func `a rejected answer has no pieces`() async throws {
        try await withServer({ _ in Reply("no", status: 404) }) { lab in
            let request = try lab.session().streamRequest(lab.server.url()).validate()
            await #expect(throws: AFError.self) { try await all(request) }
            #expect(request.completion?.error?.responseCode == 404)
            let any = try lab.session().streamRequest(lab.server.url())
            #expect(try await all(any) == Data("no".utf8))
        }
    }

    @Test func `cancel and the end of the loop cancel the stream`() async throws {
        var endless = Reply("begin")
        (endless.length, endless.stalls) = (1000, true)
        try await withServer({ [endless] _ in endless }) { lab in
            let session = try lab.session()
            let cancelled = session.streamRequest(lab.server.url())
            do {
                for try await _ in cancelled { cancelled.cancel() }
                Issue.record("the stream ended without an error")
            } catch {
                #expect((error as? AFError)?.isExplicitlyCancelledError == true)
            }
            let left = session.streamRequest(lab.server.url())
            for try await _ in left { break }
            #expect(left.completion?.error?.isExplicitlyCancelledError == true)
            let deserted = session.streamRequest(lab.server.url())
            let task = Task { try await all(deserted) }
            for await _ in lab.server.arrivals where lab.server.seen.count == 3 { break }
            task.cancel()
            await #expect(throws: AFError.self) { try await task.value }
            #expect(deserted.completion?.error?.isExplicitlyCancelledError == true)
        }
    }

    @Test func `a stream that was cancelled before it was sent is never sent`() async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            let request = try lab.session().streamRequest(lab.server.url()).cancel()
            await #expect(throws: AFError.self) { try await all(request) }
            #expect(lab.server.seen.isEmpty)
        }
    }

    @Test func `a stream has one reader`() async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            let request = try lab.session().streamRequest(lab.server.url())
            var (first, second) = (request.makeAsyncIterator(), request.makeAsyncIterator())
            await #expect(throws: AFError.self) { try await second.next() }
            #expect(try await first.next() == Data("x".utf8))
            #expect(try await first.next() == nil)
        }
    }

    @Test func `a handler receives each piece on its queue, and then the completion once`() async throws {
        try await withServer({ _ in Self.long }) { lab in
            let queue = DispatchQueue(label: "handler")
            let (count, ends) = (Locked(0), AsyncStream.makeStream(of: DataStreamRequest.Completion.self))
            let request = try lab.session().streamRequest(lab.server.url()).validate()
            request.responseStream(on: queue) { stream in
                dispatchPrecondition(condition: .onQueue(queue))
                switch stream.event {
                case .stream(.success(let piece)): count.withLock { $0 += piece.count }
                case .complete(let completion): ends.continuation.yield(completion)
                }
            }
            for await completion in ends.stream {
                #expect(completion.error == nil)
                break
            }
            #expect(count.withLock { $0 } == 4_000_000)
        }
    }

    @Test func `a handler that cancels the stream receives the cancellation`() async throws {
        var endless = Reply("begin")
        (endless.length, endless.stalls) = (1000, true)
        try await withServer({ [endless] _ in endless }) { lab in
            let ends = AsyncStream.makeStream(of: DataStreamRequest.Completion.self)
            try lab.session().streamRequest(lab.server.url()).responseStream { stream in
                switch stream.event {
                case .stream: stream.cancel()
                case .complete(let completion): ends.continuation.yield(completion)
                }
            }
            for await completion in ends.stream {
                #expect(completion.error?.isExplicitlyCancelledError == true)
                break
            }
        }
    }

    @Test func `an error of a handler cancels the stream and is its error`() async throws {
        struct Own: Error {}
        var endless = Reply("begin")
        (endless.length, endless.stalls) = (1000, true)
        try await withServer({ [endless] _ in endless }) { lab in
            let ends = AsyncStream.makeStream(of: DataStreamRequest.Completion.self)
            let request = try lab.session().streamRequest(lab.server.url()).responseStream { stream in
                switch stream.event {
                case .stream: throw Own()
                case .complete(let completion): ends.continuation.yield(completion)
                }
            }
            for await completion in ends.stream {
                guard case .responseSerializationFailed(.customSerializationFailed(is Own))? = completion.error else {
                    Issue.record("\(String(describing: completion.error))")
                    break
                }
                #expect(completion.response?.statusCode == 200 && request.isCancelled)
                #expect(request.error?.isResponseSerializationError == true)
                break
            }
        }
    }

    private func handled(_ request: DataStreamRequest) -> AsyncStream<String> {
        let (events, sink) = AsyncStream.makeStream(of: String.self)
        request.responseStreamString { stream in
            switch stream.event {
            case .stream(.success(let text)): sink.yield(text)
            case .complete(let completion):
                sink.yield(completion.error.map { "\($0)" } ?? "end")
                sink.finish()
            }
        }
        return events
    }

    private func joined(_ events: AsyncStream<String>) async -> String {
        await events.reduce(into: "") { $0 += $1 }
    }

    @Test func `every handler receives all pieces and the completion`() async throws {
        try await withServer({ _ in Reply("pieces ") }) { lab in
            let request = try lab.session(startRequestsImmediately: false).streamRequest(lab.server.url())
            let handlers = (0..<3).map { _ in handled(request) }
            request.resume()
            for events in handlers { #expect(await joined(events) == "pieces end") }
            // A handler that is added later receives only the completion.
            #expect(await joined(handled(request)) == "end")
            #expect(lab.server.seen.count == 1)
        }
    }

    @Test func `a handler beside a loop, and a loop beside a handler, fail with StreamTaken`() async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            let looped = try lab.session().streamRequest(lab.server.url())
            var iterator = looped.makeAsyncIterator()
            #expect(await joined(handled(looped)) == "\(AFError.sessionTaskFailed(error: StreamTaken()))")
            #expect(try await iterator.next() == Data("x".utf8))
            #expect(try await iterator.next() == nil)
            let handled = try lab.session().streamRequest(lab.server.url())
            let events = self.handled(handled)
            await #expect(throws: AFError.self) { try await all(handled) }
            #expect(await joined(events) == "xend")
        }
    }
}
