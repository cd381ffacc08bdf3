import FoundationEssentials
import NetworkLab
import ReachabilityAlamofire
import Testing

/// Streams that are read event by event, against a server.
struct StreamTaskTests {
    private struct Item: Codable, Sendable { var number: Int }

    private let session = Session()
    private let text = #"{"number":1}"# + "\n{\n" + #"{"number":3}"# + "\n"

    private func withServer(
        _ text: String,
        status: Int = 200,
        _ body: (_ url: String) async throws -> Void
    ) async throws {
        let server = try ScriptedServer { _ in .status(status, body: Array(text.utf8)) }
        defer { server.stop() }
        try await body(server.url("/"))
    }

    @Test func `a stream task has events of text and values, and the completion last`() async throws {
        try await withServer(text) { url in
            var events: [String] = []
            for await stream in session.streamRequest(url).streamTask().streamingDecodables(Item.self) {
                events.append(stream.value.map { "\($0.number)" } ?? (stream.error == nil ? "end" : "none"))
            }
            #expect(events == ["1", "none", "3", "end"])
            var whole = ""
            for await stream in session.streamRequest(url).streamTask().streamingStrings() {
                whole += stream.value ?? ""
                #expect(stream.completion?.error == nil)
            }
            #expect(whole == text)
            whole = ""
            for await stream in session.streamRequest(url).streamTask().streamingResponses(serializedUsing: .string) {
                whole += stream.value ?? ""
            }
            #expect(whole == text)
        }
    }

    @Test func `a rejected answer is reported by the completion`() async throws {
        try await withServer("no", status: 404) { url in
            var codes: [Int?] = []
            for await stream in session.streamRequest(url).validate().streamTask().streamingStrings() {
                codes.append(stream.completion?.error?.responseCode)
            }
            #expect(codes == [404])
        }
    }

    @Test func `a loop that does not cancel leaves the rest to the next one`() async throws {
        try await withServer(String(repeating: "0123456789", count: 400_000)) { url in
            let request = session.streamRequest(url)
            let task = request.streamTask()
            var count = 0
            for await stream in task.streamingData(automaticallyCancelling: false) {
                count += stream.value?.count ?? 0
                break
            }
            #expect(count > 0 && !request.isCancelled)
            for await stream in task.streamingData() { count += stream.value?.count ?? 0 }
            #expect(count == 4_000_000 && request.completion?.error == nil)
        }
    }

    @Test func `the events of a stream with another reader are only its end`() async throws {
        try await withServer("x") { url in
            let request = session.streamRequest(url)
            var iterator = request.makeAsyncIterator()
            var ends: [AFError?] = []
            for await stream in request.streamTask().streamingData() {
                #expect(stream.value == nil)
                ends.append(stream.completion?.error)
            }
            #expect(ends.count == 1 && ends[0]?.isSessionTaskError == true)
            let piece = try await iterator.next()
            #expect(piece == Data("x".utf8))
        }
    }
}
