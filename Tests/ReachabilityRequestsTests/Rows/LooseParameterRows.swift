import FoundationEssentials
import ReachabilityRequests
import Testing

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
}
