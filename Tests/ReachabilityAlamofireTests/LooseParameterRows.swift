import FoundationEssentials
import ReachabilityAlamofire
import Testing

import class Foundation.JSONSerialization

/// The encodings of Alamofire 4 for parameters of any type, one row each.
struct LooseParameterRows {
    private static func plain(_ text: String) -> String {
        text.replacing("%5B", with: "[").replacing("%5D", with: "]")
    }

    @Test(arguments: [
        ("text", ["a": "b"] as Parameters, "a=b"), ("two", ["b": "2", "a": "1"], "a=1&b=2"),
        ("a number as text", ["a": "-1"], "a=-1"), ("a number", ["a": 5], "a=5"), ("negative", ["a": -5], "a=-5"),
        ("a fraction", ["a": 1.1], "a=1.1"), ("true", ["a": true], "a=1"), ("false", ["a": false], "a=0"),
        ("empty text", ["a": ""], "a="), ("blank", ["a": " b "], "a=%20b%20"), ("plus", ["a": "+b+"], "a=%2Bb%2B"),
        ("percent", ["a": "100%"], "a=100%25"), ("ampersand", ["a": "b&c"], "a=b%26c"),
        ("question mark", ["a": "?"], "a=?"), ("slash", ["a": "/b/c"], "a=/b/c"),
        ("a URL", ["a": "h://x/?y=z"], "a=h%3A//x/?y%3Dz"),
        ("a list", ["a": ["b", 1, true] as [any Sendable]], "a[]=b&a[]=1&a[]=1"), ("an empty list", ["a": [Int]()], ""),
        ("a list in a list", ["a": [[1], [2]]], "a[][]=1&a[][]=2"), ("a dictionary", ["a": ["b": 1]], "a[b]=1"),
        ("a dictionary in two levels", ["a": ["b": ["c": 1]]], "a[b][c]=1"),
        ("a list in a dictionary", ["a": ["b": ["c", "d"]]], "a[b][]=c&a[b][]=d"),
        ("a dictionary in a list", ["a": [["b": 1]]], "a[][b]=1"),
        ("non-ASCII letters", ["ü": "日"], "%C3%BC=%E6%97%A5"),
        ("a joined emoji", ["a": "👨‍👩‍👧"], "a=%F0%9F%91%A8%E2%80%8D%F0%9F%91%A9%E2%80%8D%F0%9F%91%A7"),
        ("different types", ["a": 1, "b": "x", "c": false, "d": 0.5], "a=1&b=x&c=0&d=0.5"),
    ])
    func `parameters are encoded in a query and in a body`(what: String, parameters: Parameters, text: String) throws {
        let get = try URLEncoding.default.encode(URLRequest(text: "http://h/p"), with: parameters)
        #expect(Self.plain(get.text) == (text.isEmpty ? "http://h/p" : "http://h/p?" + text) && get.httpBody == nil)
        let post = URLRequest(text: "http://h/p", method: .post)
        let encoded = try URLEncoding.default.encode(post, with: parameters)
        #expect(Self.plain(encoded.bodyText ?? "") == text && encoded.text == "http://h/p")
        #expect(encoded.headers["Content-Type"] == "application/x-www-form-urlencoded; charset=utf-8")
        #expect(
            Self.plain(try URLEncoding.httpBody.encode(URLRequest(text: "http://h/"), with: parameters).bodyText ?? "")
                == text
        )
    }

    @Test(arguments: [
        ("text", ["a": "b"] as Parameters, #"{"a":"b"}"#), ("nothing", [:], "{}"), ("a number", ["a": 1], #"{"a":1}"#),
        ("a fraction", ["a": 0.5], #"{"a":0.5}"#), ("true", ["a": true], #"{"a":true}"#),
        ("false", ["a": false], #"{"a":false}"#), ("null", ["a": String?.none], #"{"a":null}"#),
        ("a list", ["a": [1, 2]], #"{"a":[1,2]}"#), ("an empty list", ["a": [Int]()], #"{"a":[]}"#),
        ("a dictionary", ["a": ["b": ["c": 1]]], #"{"a":{"b":{"c":1}}}"#), ("quotes", ["a": "\"\\"], #"{"a":"\"\\"}"#),
        ("a line break", ["a": "b\nc"], #"{"a":"b\nc"}"#), ("other letters", ["ü": "日"], #"{"ü":"日"}"#),
        ("mixed", ["a": [1, "b", ["c": true]] as [any Sendable]], #"{"a":[1,"b",{"c":true}]}"#),
        ("a large number", ["a": UInt64.max], #"{"a":18446744073709551615}"#),
    ])
    func `parameters are encoded as JSON`(what: String, parameters: Parameters, text: String) throws {
        let request = URLRequest(text: "http://h/", method: .post)
        let encoded = try JSONEncoding.default.encode(request, with: parameters)
        #expect(encoded.bodyText == text && encoded.headers["Content-Type"] == "application/json")
        #expect(encoded.text == request.text)
    }

    @Test(arguments: [
        ("a date", ["a": Date()] as Parameters), ("bytes", ["a": Data()]), ("not a number", ["a": Double.nan]),
        ("infinity", ["a": [Double.infinity]]), ("a date deep inside", ["a": ["b": [Date()]]]),
    ])
    func `a value that JSON cannot represent is an error`(what: String, parameters: Parameters) {
        let error = #expect(throws: AFError.self) {
            try JSONEncoding.default.encode(URLRequest(text: "http://h/"), with: parameters)
        }
        guard case .parameterEncodingFailed(.jsonEncodingFailed)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
    }

    @Test func `parameters of any type are encoded as JSON and as a form`() throws {
        let request = URLRequest(text: "http://h/", method: .post)
        let parameters: Parameters = [
            "s": "x", "n": 1, "b": true, "l": [1, "y", ["k": 2.5]] as [any Sendable], "o": Int?.none,
        ]
        #expect(
            try JSONEncoding.default.encode(request, with: parameters).bodyText
                == #"{"b":true,"l":[1,"y",{"k":2.5}],"n":1,"o":null,"s":"x"}"#
        )
        let form = try URLEncoding.httpBody.encode(request, with: parameters).bodyText?.replacing("%5B", with: "[")
            .replacing("%5D", with: "]")
        #expect(form == "b=1&l[]=1&l[]=y&l[][k]=2.5&n=1&s=x")
        #expect(throws: AFError.self) { try JSONEncoding.default.encode(request, with: ["d": Date()]) }
    }

    @Test(arguments: [
        (URLEncoding.ArrayEncoding.brackets, "a[]=1&a[]=2"), (.noBrackets, "a=1&a=2"),
        (.indexInBrackets, "a[0]=1&a[1]=2"), (.custom { "\($0).\($1 + 1)" }, "a.1=1&a.2=2"),
    ])
    func `arrays are encoded in the configured form`(way: URLEncoding.ArrayEncoding, text: String) throws {
        let encoded = try URLEncoding(arrayEncoding: way).encode(URLRequest(text: "http://h/"), with: ["a": [1, 2]])
        #expect(Self.plain(encoded.text) == "http://h/?" + text)
    }

    @Test(arguments: [
        ("?foo", "?foo=1"), ("+foo+", "%2Bfoo%2B=1"), ("a b", "a%20b=1"), ("a&b", "a%26b=1"), ("a=b", "a%3Db=1"),
        ("a#b", "a%23b=1"), ("😃", "%F0%9F%98%83=1"), ("[a]", "[a]=1"), ("a\u{0}b", "a%00b=1"),
    ])
    func `keys are percent-encoded`(name: String, text: String) throws {
        let encoded = try URLEncoding.default.encode(URLRequest(text: "http://h/"), with: [name: 1])
        #expect(Self.plain(encoded.text) == "http://h/?" + text && URLEncoding.default.escape("/? é") == "/?%20%C3%A9")
    }

    @Test(arguments: [
        (HTTPMethod.get, true), (.head, true), (.delete, true), (.post, false), (.put, false), (.options, false),
    ])
    func `the method decides whether parameters are in the query or in the body`(
        method: HTTPMethod,
        isQuery: Bool
    )
        throws
    {
        let request = URLRequest(text: "http://h/", method: method)
        let encoded = try URLEncoding.default.encode(request, with: ["a": 1])
        #expect(encoded.text == (isQuery ? "http://h/?a=1" : "http://h/"))
        #expect(encoded.bodyText == (isQuery ? nil : "a=1"))
        #expect(try URLEncoding.queryString.encode(request, with: ["a": 1]).text == "http://h/?a=1")
        let literal = URLEncoding(destination: .queryString, boolEncoding: .literal)
        #expect(try literal.encode(request, with: ["a": false]).text == "http://h/?a=false")
        #expect(try JSONEncoding.default.encode(request, with: nil).httpBody == nil)
        #expect(try URLEncoding.default.encode(request, with: [:]).httpBody == nil)
    }

    @Test func `JSON is written with the options of Foundation`() throws {
        let rows: [(JSONSerialization.WritingOptions, String)] = [
            ([], #"{"a":"\/","b":1}"#), (.sortedKeys, #"{"a":"\/","b":1}"#),
            (.withoutEscapingSlashes, #"{"a":"/","b":1}"#),
            ([.prettyPrinted, .withoutEscapingSlashes], "{\n  \"a\" : \"/\",\n  \"b\" : 1\n}"),
        ]
        let request = URLRequest(text: "http://h/", method: .post)
        for (options, text) in rows {
            #expect(try JSONEncoding(options: options).encode(request, with: ["b": 1, "a": "/"]).bodyText == text)
        }
    }
}

extension URLRequest {
    /// The body in memory as text.
    var bodyText: String? { httpBody.map { String(decoding: $0, as: UTF8.self) } }
}
