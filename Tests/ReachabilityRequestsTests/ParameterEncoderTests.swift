import FoundationEssentials
import Testing

@testable import ReachabilityRequests

/// Encoders with the expectations of Alamofire's tests, as rows. Intended difference: elements of unsorted dictionaries are sorted. The date
/// encoding `formatted` requires Foundation and is tested in ReachabilityAlamofireTests.
struct ParameterEncoderTests {
    private struct Person: Codable, Sendable {
        var property = "property"
        var isTrue: Bool?
        var tags: [String]?
        var data: Data?
        var date: Date?
        var inner: Inner?
    }
    private struct Inner: Codable, Sendable {
        var aKey = 1
        var more = ["x", "y"]
    }

    /// A value that encodes into containers of superclasses.
    private struct Supers: Encodable {
        enum CodingKeys: CodingKey { case plain, list, b, c }
        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: CodingKeys.self)
            try container.encode([0], forKey: .list)
            var plain = container.superEncoder().container(keyedBy: CodingKeys.self)
            try plain.encode(1, forKey: .plain)
            var keyed = container.superEncoder(forKey: .list).container(keyedBy: CodingKeys.self)
            try keyed.encode(2, forKey: .b)
            var list = container.nestedUnkeyedContainer(forKey: .list)
            var unkeyed = list.superEncoder().container(keyedBy: CodingKeys.self)
            try unkeyed.encode(3, forKey: .c)
        }
    }

    private static func query(
        _ person: some Encodable,
        _ encoder: URLEncodedFormEncoder = URLEncodedFormEncoder()
    ) throws -> String {
        try encoder.encode(person).replacing("%5B", with: "[").replacing("%5D", with: "]")
    }

    @Test(arguments: [
        ("plain text", "a%20b", "a b"), ("empty", "", ""),
        ("reserved", "%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D", ":#[]@!$&'()*+,;="),
        ("slash and question mark", "/?", "/?"), ("unreserved", "-._~", "-._~"), ("percent", "%25", "%"),
        ("illegal ASCII", "%20%22%23%25%3C%3E%5B%5D%5C%5E%60%7B%7D%7C", " \"#%<>[]\\^`{}|"),
        ("non-Latin", "fran%C3%A7ais%E6%97%A5%E6%9C%AC%E8%AA%9E%D8%A7%F0%9F%98%83", "français日本語ا😃"),
        ("line feed", "%0A", "\n"),
    ])
    func `text is percent-encoded`(what: String, text: String, value: String) throws {
        #expect(
            try Self.query(["k": value], .init()) == "k="
                + text.replacing("%5B", with: "[").replacing("%5D", with: "]"),
            "\(what)"
        )
    }

    @Test(arguments: [
        (URLEncodedFormEncoder.ArrayEncoding.brackets, "a[]=1&a[]=2"), (.noBrackets, "a=1&a=2"),
        (.indexInBrackets, "a[0]=1&a[1]=2"),
        (.custom { "\($0).\($1 + 1)" }, "a.1=1&a.2=2"),
    ])
    func `arrays are encoded in the configured form`(way: URLEncodedFormEncoder.ArrayEncoding, text: String) throws {
        #expect(try Self.query(["a": [1, 2]], URLEncodedFormEncoder(arrayEncoding: way)) == text)
    }

    @Test func `Boolean values are encoded as numbers or as words`() throws {
        #expect(try Self.query(["a": true, "b": false]) == "a=1&b=0")
        #expect(try Self.query(["a": true], URLEncodedFormEncoder(boolEncoding: .literal)) == "a=true")
    }

    @Test func `data is encoded as Base64, as an array, or by a closure`() throws {
        let value = ["d": Data("data".utf8)]
        #expect(try Self.query(value) == "d=ZGF0YQ%3D%3D")
        #expect(try Self.query(value, .init(dataEncoding: .deferredToData)) == "d[]=100&d[]=116&d[]=97&d[]=97")
        #expect(try Self.query(value, .init(dataEncoding: .custom { "\($0.count)" })) == "d=4")
        #expect(throws: CancellationError.self) {
            try Self.query(value, .init(dataEncoding: .custom { _ in throw CancellationError() }))
        }
    }

    @Test func `dates are encoded in the configured form`() throws {
        let value = ["d": Date(timeIntervalSinceReferenceDate: 123.456)]
        let rows: [(URLEncodedFormEncoder.DateEncoding, String)] = [
            (.deferredToDate, "d=123.456"), (.secondsSince1970, "d=978307323.456"),
            (.millisecondsSince1970, "d=978307323456.0"),
            (.iso8601, "d=2001-01-01T00%3A02%3A03Z"),
            (.custom { "\(Int($0.timeIntervalSinceReferenceDate))" }, "d=123"),
        ]
        for (way, text) in rows { #expect(try Self.query(value, .init(dateEncoding: way)) == text) }
    }

    @Test func `nil is omitted, or encoded as an empty or configured text`() throws {
        struct Maybe: Encodable { var a: String?; var b: Int?; var c: Inner? }
        #expect(try Self.query(Maybe()) == "")
        #expect(try Self.query(Maybe(), .init(nilEncoding: .dropValue)) == "a=&b=&c=")
        #expect(try Self.query(Maybe(), .init(nilEncoding: .null)) == "a=null&b=null&c=null")
        #expect(try Self.query(Maybe(), .init(nilEncoding: .custom { nil })) == "")
        #expect(try Self.query(["a": [1, nil]], .init(nilEncoding: .null)) == "a[]=1&a[]=null")
        #expect(try Self.query(["a": [1, nil]]) == "a[]=1")
    }

    @Test func `nested keys have brackets, dots, or the text of a closure`() throws {
        let value = Person(inner: Inner())
        #expect(try Self.query(value) == "inner[aKey]=1&inner[more][]=x&inner[more][]=y&property=property")
        #expect(try Self.query(["a": ["b": ["c": 1]]], .init(keyPathEncoding: .dots)) == "a.b.c=1")
        #expect(try Self.query(["a": ["b": 1]], .init(keyPathEncoding: .custom { "->\($0)" })) == "a-%3Eb=1")
        #expect(try Self.query(["a": ["b": 1]], .init(keyPathEncoding: .init { "->\($0)" })) == "a-%3Eb=1")
    }

    @Test func `blanks are encoded as %20 or as plus signs`() throws {
        #expect(try Self.query(["a b": "c d "]) == "a%20b=c%20d%20")
        #expect(try Self.query(["a b": "c d +"], .init(spaceEncoding: .plusReplaced)) == "a+b=c+d+%2B")
        #expect(try Self.query(["a": "?/"], .init(allowedCharacters: ["a"])) == "a=%3F%2F")
    }

    @Test func `pairs are sorted by key, or keep their order`() throws {
        struct Two: Encodable { var z = 1; var a = 2 }
        #expect(try Self.query(Two()) == "a=2&z=1")
        #expect(try Self.query(Two(), .init(alphabetizeKeyValuePairs: false)) == "z=1&a=2")
    }

    @Test func `decimal numbers, subclasses and superclasses are encoded`() throws {
        class Base: Encodable { var one = 1 }
        final class Child: Base {
            enum CodingKeys: CodingKey { case two }
            override func encode(to encoder: any Encoder) throws {
                var container = encoder.container(keyedBy: CodingKeys.self)
                try container.encode(2, forKey: .two)
                try super.encode(to: container.superEncoder())
            }
        }
        #expect(try Self.query(Child()) == "one=1&two=2")
        #expect(try Self.query(Supers()) == "list[b]=2&list[c]=3&plain=1")
        #expect(try Self.query(["d": Decimal(string: "1.10")]) == "d=1.1")
    }

    @Test func `a value without keys is an error`() {
        #expect(throws: URLEncodedFormEncoder.Failure.self) { try Self.query([1, 2]) }
        #expect(throws: URLEncodedFormEncoder.Failure.self) { try Self.query("text") }
        #expect(throws: URLEncodedFormEncoder.Failure.self) { try Self.query(7) }
    }

    @Test(
        arguments: [
            ("GET", "http://h/?a=1", nil), ("HEAD", "http://h/?a=1", nil), ("DELETE", "http://h/?a=1", nil),
            ("POST", "http://h/", "a=1"),
            ("PUT", "http://h/", "a=1"), ("PATCH", "http://h/", "a=1"), ("OPTIONS", "http://h/", "a=1"),
        ] as [(String, String, String?)]
    )
    func `the method decides whether parameters are in the query or in the body`(
        method: String,
        url: String,
        body: String?
    ) throws {
        let request = URLRequest(text: "http://h/", method: HTTPMethod(rawValue: method))
        let encoded = try URLEncodedFormParameterEncoder.default.encode(["a": 1], into: request)
        #expect(encoded.text == url && encoded.bodyText == body)
        let type = body == nil ? nil : "application/x-www-form-urlencoded; charset=utf-8"
        #expect(encoded.headers["Content-Type"] == type)
        let forced = try URLEncodedFormParameterEncoder(destination: .httpBody).encode(["a": 1], into: request)
        #expect(forced.bodyText == "a=1" && forced.text == "http://h/")
    }

    @Test(arguments: [
        ("http://h/", "http://h/?a=1"), ("http://h/?", "http://h/?a=1"), ("http://h/?b=2", "http://h/?b=2&a=1"),
        ("http://h/?b=2&", "http://h/?b=2&a=1"),
        ("http://h/?b=2#f", "http://h/?b=2&a=1#f"), ("http://h/#f?x", "http://h/?a=1#f?x"),
    ])
    func `parameters are appended to an existing query`(url: String, result: String) throws {
        #expect(
            try URLEncodedFormParameterEncoder.default.encode(["a": 1], into: URLRequest(text: url)).text == result
        )
    }

    @Test func `without parameters a request does not change, and an existing content type stays`() throws {
        let request = URLRequest(text: "http://h/", method: .post, headers: ["content-type": "x/y"])
        let none: [String: Int]? = nil
        for encoder in [JSONParameterEncoder.default as any ParameterEncoder, URLEncodedFormParameterEncoder.default] {
            #expect(try encoder.encode(none, into: request).httpBody == nil)
            #expect(try encoder.encode(["a": 1], into: request).headers["Content-Type"] == "x/y")
        }
    }

    @Test func `JSON parameters set the content type, can be sorted, and report errors`() throws {
        let request = URLRequest(text: "http://h/", method: .post)
        let encoded = try JSONParameterEncoder.sortedKeys.encode(["z": 1, "a": 2], into: request)
        #expect(encoded.bodyText == #"{"a":2,"z":1}"# && encoded.headers["Content-Type"] == "application/json")
        #expect(try JSONParameterEncoder.prettyPrinted.encode(["a": 1], into: request).bodyText == "{\n  \"a\" : 1\n}")
        let error = #expect(throws: AFError.self) {
            try JSONParameterEncoder.default.encode(["a": Double.nan], into: request)
        }
        guard case .parameterEncodingFailed(.jsonEncodingFailed)? = error else {
            return #expect(Bool(false), "\(String(describing: error))")
        }
    }
}

extension URLRequest {
    /// The body in memory as text.
    var bodyText: String? { httpBody.map { String(decoding: $0, as: UTF8.self) } }
}
