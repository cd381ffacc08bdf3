import FoundationEssentials
import Testing

@testable import ReachabilityRequests

/// Serializers with the expectations of Alamofire's tests. Intended difference: an unknown character set is an error.
struct SerializerTests {
    private struct Thing: Codable, Equatable, Sendable { var name: String }

    private static func head(_ status: Int = 200, _ type: String? = nil) -> HTTPURLResponse {
        HTTPURLResponse(text: "http://h/", statusCode: status, headers: type.map { ["Content-Type": $0] } ?? [:])
    }

    private static func read<S: DataResponseSerializerProtocol>(
        _ serializer: S,
        _ text: String = "",
        _ head: HTTPURLResponse = head(),
        method: HTTPMethod = .get
    ) throws -> S.SerializedObject {
        try serializer.serialize(
            request: .init(text: "http://h/", method: method),
            response: head,
            data: Data(text.utf8),
            error: nil
        )
    }

    @Test(arguments: [(204, HTTPMethod.get), (205, .get), (200, .head)])
    func `a permitted empty body is the empty value of a type that has one`(status: Int, method: HTTPMethod) throws {
        #expect(try Self.read(DecodableResponseSerializer<Empty>(), "", Self.head(status), method: method) == .value)
        let error = #expect(throws: AFError.self) {
            try Self.read(DecodableResponseSerializer<Thing>(), "", Self.head(status), method: method)
        }
        guard case .responseSerializationFailed(.invalidEmptyResponse("Thing"))? = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
    }

    @Test(
        arguments: [
            (nil, [0x66, 0xe9], "fé"), ("utf-8", [0xc3, 0xa9], "é"), ("UTF-8", [0xc3, 0xa9], "é"),
            ("\"utf-8\"", [0xc3, 0xa9], "é"), ("iso-8859-1", [0xe9], "é"),
            ("us-ascii", [0x41], "A"), ("utf-16be", [0, 0x41], "A"), ("utf-16le", [0x41, 0], "A"),
            ("utf-8", [0xe9], nil), ("us-ascii", [0xe9], nil), ("no-such", [0x41], nil),
        ] as [(String?, [UInt8], String?)]
    )
    func `text is decoded in the character set of the answer`(charset: String?, bytes: [UInt8], text: String?) throws {
        let head = Self.head(200, "text/plain" + (charset.map { "; charset=\($0)" } ?? ""))
        let read = {
            try StringResponseSerializer().serialize(
                request: .init(text: ""),
                response: head,
                data: Data(bytes),
                error: nil
            )
        }
        if let text { #expect(try read() == text) } else { #expect(throws: AFError.self) { try read() } }
    }

    @Test func `a requested character set has priority over that of the answer`() throws {
        let head = Self.head(200, "text/plain; charset=us-ascii")
        let data = Data([0xc3, 0xa9])
        #expect(
            try StringResponseSerializer(encoding: .utf8).serialize(
                request: .init(text: ""),
                response: head,
                data: data,
                error: nil
            )
                == "é"
        )
    }

    @Test func `JSON is decoded by the default decoder and by a configured one`() throws {
        #expect(try Self.read(DecodableResponseSerializer<Thing>(), #"{"name":"a"}"#) == Thing(name: "a"))
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .custom { $0.last ?? Key(stringValue: "") }
        #expect(try Self.read(DecodableResponseSerializer<Thing>(decoder: decoder), #"{"name":"b"}"#).name == "b")
    }

    private struct Key: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }

    @Test(arguments: [
        ("<html>", "text/html; charset=utf-8", true), ("{", "application/json", false),
        ("<html>", "application/xhtml+xml", true), ("<html>", "TEXT/HTML", true), ("{}", "text/html", true),
        ("<html>", "application/json", false), ("login", "text/plain", false),
    ])
    func `a body that is not JSON is an error, which mentions a captive portal for an HTML page`(
        text: String,
        type: String,
        isPage: Bool
    ) {
        let error = #expect(throws: AFError.self) {
            try Self.read(DecodableResponseSerializer<Thing>(), text, Self.head(200, type))
        }
        #expect(error?.description.contains("captive portal") == isPage)
        #expect(error?.underlyingError is DecodingError)
    }

    @Test func `map changes the value of a response`() {
        let response = AFDataResponse<Int>(
            request: .init(text: "http://h/?secret"),
            response: Self.head(),
            data: nil,
            metrics: RequestMetrics(),
            serializationDuration: 0.5,
            result: .success(2)
        )
        #expect(response.map { $0 * 2 }.value == 4 && !response.description.contains("secret"))
    }
}
