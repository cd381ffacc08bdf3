import FoundationEssentials
import LinuxSupport
import NetworkLab
import ReachabilityAlamofire
import Testing

import class Foundation.NSNull

/// JSON without a type.
struct LooseSerializerTests {
    private func withServer(
        _ text: String,
        status: Int = 200,
        type: String = "application/json",
        _ body: (_ url: String) async throws -> Void
    ) async throws {
        let server = try ScriptedServer { _ in
            .status(status, headers: [("Content-Type", type)], body: Array(text.utf8))
        }
        defer { server.stop() }
        try await body(server.url("/"))
    }

    /// Returns whether the value is NSNull. The function is generic, because Alamofire 4 has a method of this name for one type.
    private func isNull(_ request: some SerializedRequest) async -> Bool {
        await withCheckedContinuation { continuation in
            request.responseJSON { continuation.resume(returning: $0.value is NSNull) }
        }
    }

    private func shown(_ value: Any) -> String {
        switch value {
        case let parts as [String: Any]: parts.map { "\($0): \(shown($1))" }.joined(separator: " ")
        case let elements as [Any]: elements.map { shown($0) }.joined(separator: " ")
        case is NSNull: "null"
        default: "\(value)"
        }
    }

    @Test(arguments: [
        (#"{"a":[1,2.5,"x",true,null,{"b":-1}]}"#, #"a: 1 2.5 x true null b: -1"#), ("[]", ""), ("7", "7"),
        ("\"x\"", "x"), ("false", "false"), ("null", "null"), ("{}", ""),
    ])
    func `JSON of any shape is read`(text: String, values: String) async throws {
        try await withServer(text) { url in
            let read: String? = await withCheckedContinuation { continuation in
                Session().request(url).responseJSON { response in
                    continuation.resume(returning: response.value.map(shown))
                }
            }
            #expect(read == values)
            let file: String? = await withCheckedContinuation { continuation in
                Session().download(url).responseJSON { response in
                    response.fileURL.map { try? FileManager.default.removeItem(at: $0) }
                    continuation.resume(returning: response.value.map(shown))
                }
            }
            #expect(file == values)
        }
    }

    @Test(arguments: [(204, HTTPMethod.get), (205, .get), (200, .head)])
    func `a permitted empty body is NSNull`(status: Int, method: HTTPMethod) async throws {
        try await withServer("", status: status) { url in
            #expect(await isNull(Session().request(url, method: method)))
            let request = Session().request(url, method: method)
            let value = try await request.serializingResponse(using: JSONResponseSerializer()).value
            #expect(value as? NSNull == NSNull())
        }
    }

    @Test(arguments: ["<html>", "{"])
    func `text that is not JSON is an error with a hint`(text: String) async throws {
        try await withServer(text, type: "text/html") { url in
            let response = await Session().request(url).serializingResponse(using: JSONResponseSerializer()).response
            guard case .responseSerializationFailed(.jsonSerializationFailed)? = response.error else {
                Issue.record("\(response)")
                return
            }
            #expect(response.error?.description.contains("captive portal") == true)
            let cause = response.error?.underlyingError as? CocoaError
            #expect(cause?.code == .propertyListReadCorrupt)
        }
        #expect(throws: CancellationError.self) {
            try JSONResponseSerializer()
                .serialize(request: nil, response: nil, data: nil, error: CancellationError())
        }
    }

    @Test func `numbers of Foundation in parameters of Alamofire 4 are not Boolean values`() throws {
        #expect(try version4Query(literal: false) == "one=1&true=1")
        #expect(try version4Query(literal: true) == "one=1&true=true")
    }
}
