import Dispatch
import FoundationEssentials
import LinuxSupport
import Testing

@testable import ReachabilityRequests

/// Text and values of streams.
struct StreamDecodingTests {
    private struct Item: Codable, Hashable, Sendable { var number: Int }

    private static func line(_ number: Int) -> String { #"{"number":\#(number)}"# }

    /// The pieces of a text that is cut at these places.
    private static func pieces(_ bytes: [UInt8], _ cuts: Int...) -> [Data] {
        zip([0] + cuts, cuts + [bytes.count]).map { Data(bytes[$0..<$1]) }
    }

    private static func texts(_ pieces: [Data]) -> [String] {
        var decoder = PieceDecoder<String, Never>.strings
        let results = pieces.flatMap { decoder.decode($0) } + decoder.finish()
        return results.map { $0.get() }
    }

    private static func values(_ pieces: [Data], limit: Int = 100) -> [Result<Item, AFError>] {
        var decoder = PieceDecoder(DecodableStreamSerializer<Item>(), limit: limit)
        return pieces.flatMap { decoder.decode($0) } + decoder.finish()
    }

    @Test(arguments: ["aé€😀z", "😀😀", "é", "ascii"])
    func `no character is split between two pieces`(text: String) {
        let bytes = Array(text.utf8)
        for first in 0...bytes.count {
            for second in first...bytes.count {
                let texts = Self.texts(Self.pieces(bytes, first, second))
                #expect(texts.joined() == text && texts.allSatisfy { !$0.isEmpty && !$0.contains("\u{fffd}") })
            }
        }
    }

    @Test(
        arguments: [
            ([0xff, 0x61], "\u{fffd}a"), ([0x61, 0xe2, 0x82], "a\u{fffd}"), ([0xe2, 0x61], "\u{fffd}a"),
            ([0x80, 0x80, 0x80, 0x80], "\u{fffd}\u{fffd}\u{fffd}\u{fffd}"), ([0xc0, 0x80], "\u{fffd}\u{fffd}"),
        ] as [([UInt8], String)]
    )
    func `invalid UTF-8 becomes a replacement character, and the following text is kept`(bytes: [UInt8], text: String) {
        for cut in 0...bytes.count { #expect(Self.texts(Self.pieces(bytes, cut)).joined() == text) }
    }

    @Test(arguments: ["\n", "\r\n", "\n\n", "\n \r\n"])
    func `values are decoded line by line, regardless of the pieces`(separator: String) throws {
        let bytes = Array((Self.line(1) + separator + Self.line(2) + separator + Self.line(3)).utf8)
        for cut in 0...bytes.count {
            let values = try Self.values(Self.pieces(bytes, cut)).map { try $0.get().number }
            #expect(values == [1, 2, 3])
        }
    }

    @Test func `an invalid line is an error, and the next line is decoded`() throws {
        let values = Self.values([Data("\(Self.line(1))\n{\n\(Self.line(3))\n".utf8)])
        #expect(values.count == 3)
        #expect(try values[0].get().number == 1 && values[2].get().number == 3)
        guard case .failure(.responseSerializationFailed(.decodingFailed)) = values[1] else {
            Issue.record("an invalid line was decoded")
            return
        }
    }

    @Test func `a line that is longer than the limit is one error`() {
        let pieces = Array(repeating: Data("123456789".utf8), count: 1000)
        let values = Self.values(pieces)
        guard values.count == 1, case .failure(let error) = values[0] else {
            Issue.record("a line beyond the limit is not an error")
            return
        }
        #expect(error.underlyingError as? ResponseTooLong == ResponseTooLong(limit: 100))
    }

    @Test func `loops receive the complete text and all values`() async throws {
        let text = (1...1000).map { Self.line($0) + "é\n" }.joined()
        let lines = (1...1000).map { Self.line($0) + "\n" }.joined()
        try await withServer({ Reply($0.path == "/text" ? text : lines) }) { lab in
            let session = try lab.session()
            var whole = ""
            for try await part in session.streamRequest(lab.server.url("/text")).validate().strings() { whole += part }
            #expect(whole == text)
            var numbers: [Int] = []
            let request = session.streamRequest(lab.server.url("/lines")).validate()
            for try await item in request.decodables(of: Item.self) { numbers.append(item.number) }
            #expect(numbers == Array(1...1000) && request.completion?.error == nil)
        }
    }

    @Test func `an invalid value ends the loop and cancels the request`() async throws {
        var endless = Reply(Self.line(1) + "\n{\n")
        (endless.length, endless.stalls) = (1000, true)
        try await withServer({ [endless] _ in endless }) { lab in
            let request = try lab.session().streamRequest(lab.server.url())
            var numbers: [Int] = []
            do {
                for try await item in request.decodables(of: Item.self) { numbers.append(item.number) }
                Issue.record("the stream ended without an error")
            } catch {
                #expect((error as? AFError)?.isResponseSerializationError == true)
            }
            #expect(numbers == [1] && request.completion?.error?.isExplicitlyCancelledError == true)
        }
    }

    @Test func `an incomplete last line of an interrupted answer is not returned`() async throws {
        var cut = Reply(Self.line(1) + "\n" + Self.line(2))
        (cut.length, cut.closes) = (1000, true)
        try await withServer({ [cut] _ in cut }) { lab in
            var numbers: [Int] = []
            do {
                let request = try lab.session().streamRequest(lab.server.url())
                for try await item in request.decodables(of: Item.self) { numbers.append(item.number) }
                Issue.record("the stream ended without an error")
            } catch {
                #expect((error as? AFError)?.isSessionTaskError == true)
            }
            #expect(numbers == [1])
        }
    }

    @Test func `a stream has one reader, regardless of the form`() async throws {
        try await withServer({ _ in Reply("x") }) { lab in
            let request = try lab.session().streamRequest(lab.server.url())
            var first = request.strings().makeAsyncIterator()
            await #expect(throws: AFError.self) { for try await _ in request.decodables(of: Item.self) {} }
            request.responseStreamString { stream in
                if stream.value != nil { Issue.record("a second reader received data") }
            }
            #expect(try await first.next() == "x")
        }
    }

    @Test func `handlers receive text, values, errors and the completion`() async throws {
        let text = Self.line(1) + "\n{\n" + Self.line(3) + "\n"
        try await withServer({ _ in Reply(text) }) { lab in
            let session = try lab.session()
            let queue = DispatchQueue(label: "handler")
            let whole = Locked("")
            let ends = AsyncStream.makeStream(of: DataStreamRequest.Completion.self)
            session.streamRequest(lab.server.url()).responseStreamString(on: queue) { stream in
                dispatchPrecondition(condition: .onQueue(queue))
                whole.withLock { $0 += stream.value ?? "" }
                if let completion = stream.completion { ends.continuation.yield(completion) }
            }
            for await completion in ends.stream {
                #expect(completion.error == nil)
                break
            }
            #expect(whole.withLock { $0 } == text)

            let told = AsyncStream.makeStream(of: String.self)
            session.streamRequest(lab.server.url()).responseStreamDecodable(of: Item.self, on: queue) { stream in
                switch stream.event {
                case .stream(.success(let item)): told.continuation.yield("\(item.number)")
                case .stream(.failure): told.continuation.yield("none")
                case .complete:
                    told.continuation.yield("end")
                    told.continuation.finish()
                }
            }
            #expect(await told.stream.reduce(into: []) { $0.append($1) } == ["1", "none", "3", "end"])
        }
    }
}

/// Serializers of streams, against decoders and a server.
struct StreamSerializerTests {
    private struct Refusal: Error {}

    /// Serializes each piece to its length. A piece that begins with `!` is an error.
    private struct Lengths: DataStreamSerializer {
        func serialize(_ data: Data) throws -> Int {
            if data.first == UInt8(ascii: "!") { throw Refusal() }
            return data.count
        }
    }

    private func decoded<Serializer: DataStreamSerializer>(
        _ serializer: Serializer,
        _ pieces: [String]
    ) -> [Result<Serializer.SerializedObject, AFError>] {
        var decoder = PieceDecoder(serializer, limit: 100)
        return pieces.flatMap { decoder.decode(Data($0.utf8)) } + decoder.finish()
    }

    @Test func `a custom serializer receives the pieces, and its error is a serialization error`() throws {
        let results = decoded(Lengths(), ["ab", "!", "c\nd"])
        #expect(try results.count == 3 && results[0].get() == 2 && results[2].get() == 3)
        guard case .failure(.responseSerializationFailed(.customSerializationFailed(let error))) = results[1] else {
            Issue.record("\(results)")
            return
        }
        #expect(error is Refusal)
    }

    @Test func `values are decoded from lines, text from whole characters, and pieces are unchanged`() throws {
        #expect(try decoded(DecodableStreamSerializer<Int>(), ["1", "2\n\n3"]).map { try $0.get() } == [12, 3])
        let pieces = try decoded(PassthroughStreamSerializer(), ["a", "b\n"]).map { try $0.get() }
        #expect(pieces == [Data("a".utf8), Data("b\n".utf8)])
        var text = PieceDecoder(StringStreamSerializer(), limit: 100)
        let euro = Data("€".utf8)
        #expect(text.decode(euro.prefix(2)).isEmpty)
        #expect(try text.decode(euro.suffix(1)).map { try $0.get() } == ["€"] && text.finish().isEmpty)
    }

    @Test func `handlers receive the values of a serializer`() async throws {
        try await withServer({ _ in Reply("1\nx\n2") }) { lab in
            let (events, sink) = AsyncStream.makeStream(of: String.self)
            let session = try lab.session()
            let serializer = DecodableStreamSerializer<Int>()
            session.streamRequest(lab.server.url()).responseStream(using: serializer) { stream in
                sink.yield(stream.completion == nil ? stream.value.map { "\($0)" } ?? "error" : "end")
                if stream.completion != nil { sink.finish() }
            }
            #expect(await events.reduce(into: []) { $0.append($1) } == ["1", "error", "2", "end"])
        }
    }
}
