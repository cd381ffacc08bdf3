import FoundationEssentials
import ReachabilityRequests
import Testing

/// The form encoder for each kind of value, one row each.
struct FormRows {
    private enum Level: String, Codable, Sendable { case low, high }
    private struct Outer: Encodable, Sendable {
        var one = 1
        var nested = Middle()
    }
    private struct Middle: Encodable, Sendable {
        var two = "2"
        var inner = Deep()
    }
    private struct Deep: Encodable, Sendable { var list = [true, false] }
    /// A value with a manual encoding, selected by a number.
    private struct ByHand: Encodable, Sendable {
        enum Keys: String, CodingKey { case a, b }
        let way: Int

        func encode(to encoder: any Encoder) throws {
            var container = encoder.container(keyedBy: Keys.self)
            switch way {
            case 0: try container.encode(1, forKey: .a)
            case 1: try container.encodeNil(forKey: .a)
            case 2:
                var inner = container.nestedContainer(keyedBy: Keys.self, forKey: .a)
                try inner.encode("x", forKey: .b)
            case 3:
                var inner = container.nestedUnkeyedContainer(forKey: .a)
                try inner.encode("x")
                try inner.encode(2)
            case 4:
                var inner = container.nestedUnkeyedContainer(forKey: .a)
                var deeper = inner.nestedContainer(keyedBy: Keys.self)
                try deeper.encode(1, forKey: .b)
            case 5:
                var inner = container.nestedUnkeyedContainer(forKey: .a)
                var deeper = inner.nestedUnkeyedContainer()
                try deeper.encode(1)
            case 6:
                try container.encode(1, forKey: .a)
                try container.encode(2, forKey: .a)
            case 7: try container.encode(Level.high, forKey: .b)
            default: break
            }
        }
    }

    private static func plain(_ text: String) -> String {
        text.replacing("%5B", with: "[").replacing("%5D", with: "]")
    }

    @Test(arguments: [
        ("Int", ["a": Int.min] as any Encodable & Sendable, "a=-9223372036854775808"),
        ("Int8", ["a": Int8(-1)], "a=-1"),
        ("Int16", ["a": Int16.max], "a=32767"), ("Int32", ["a": Int32.min], "a=-2147483648"),
        ("Int64", ["a": Int64(7)], "a=7"), ("UInt", ["a": UInt.max], "a=18446744073709551615"),
        ("UInt8", ["a": UInt8.max], "a=255"), ("UInt16", ["a": UInt16.max], "a=65535"),
        ("UInt32", ["a": UInt32.max], "a=4294967295"), ("UInt64", ["a": UInt64(0)], "a=0"),
        ("Float", ["a": Float(1.5)], "a=1.5"), ("Double", ["a": 0.1], "a=0.1"), ("whole Double", ["a": 1.0], "a=1.0"),
        ("large Double", ["a": 1e21], "a=1e%2B21"), ("String", ["a": "b"], "a=b"), ("Bool", ["a": true], "a=1"),
        ("empty text", ["a": ""], "a="), ("empty key", ["": "b"], "=b"), ("no pairs", [String: Int](), ""),
        ("a list", ["a": ["x", "y"]], "a[]=x&a[]=y"), ("an empty list", ["a": [Int]()], ""),
        ("a list of lists", ["a": [[1, 2], [3]]], "a[][]=1&a[][]=2&a[][]=3"),
        ("lists in a list in three levels", ["a": [[[1]]]], "a[][][]=1"),
        ("a dictionary", ["a": ["b": 1]], "a[b]=1"), ("two levels", ["a": ["b": ["c": "d"]]], "a[b][c]=d"),
        ("three levels", ["a": ["b": ["c": ["d": 1]]]], "a[b][c][d]=1"),
        ("a list in a dictionary", ["a": ["b": [1, 2]]], "a[b][]=1&a[b][]=2"),
        ("a dictionary in a list", ["a": [["b": 1]]], "a[][b]=1"),
        ("an absent value", ["a": Int?.none], ""), ("a present one", ["a": Int?.some(1)], "a=1"),
        ("an enumeration", ["a": Level.low], "a=low"), ("a URL", ["a": URL(string: "https://h/")], "a=https%3A//h/"),
        ("a structure", Outer(), "nested[inner][list][]=0&nested[inner][list][]=1&nested[two]=2&one=1"),
        ("by hand", ByHand(way: 0), "a=1"), ("nil by hand", ByHand(way: 1), ""),
        ("a container by hand", ByHand(way: 2), "a[b]=x"), ("a list by hand", ByHand(way: 3), "a[]=2&a[]=x"),
        ("a container in a list", ByHand(way: 4), "a[][b]=1"), ("a list in a list", ByHand(way: 5), "a[][]=1"),
        ("twice the same key", ByHand(way: 6), "a=2"), ("an enumeration by hand", ByHand(way: 7), "b=high"),
        ("nothing by hand", ByHand(way: 8), ""),
    ])
    func `each type of value is encoded`(what: String, value: any Encodable & Sendable, text: String) throws {
        #expect(Self.plain(try URLEncodedFormEncoder().encode(value)) == text)
    }

    @Test(arguments: [
        ("?foo", "?foo=1"), ("/bar", "/bar=1"), ("+foo+", "%2Bfoo%2B=1"), ("a b", "a%20b=1"), ("a&b", "a%26b=1"),
        ("a=b", "a%3Db=1"), ("a#b", "a%23b=1"), ("a%b", "a%25b=1"), ("😃", "%F0%9F%98%83=1"), ("é", "%C3%A9=1"),
        ("e\u{301}", "e%CC%81=1"), ("a\u{0}b", "a%00b=1"), ("[a]", "[a]=1"), ("a.b", "a.b=1"), ("~", "~=1"),
        ("a;b", "a%3Bb=1"), ("a:b", "a%3Ab=1"), ("a@b", "a%40b=1"), ("a\"b", "a%22b=1"), ("a'b", "a%27b=1"),
    ])
    func `keys are percent-encoded`(name: String, text: String) throws {
        #expect(Self.plain(try URLEncodedFormEncoder().encode([name: 1])) == text)
    }

    @Test(arguments: [
        (URLEncodedFormEncoder.KeyEncoding.convertToSnakeCase, "simpleOneTwo", "simple_one_two"),
        (.convertToSnakeCase, "myURLProperty", "my_url_property"), (.convertToSnakeCase, "aB", "a_b"),
        (.convertToKebabCase, "oneTwoThree", "one-two-three"), (.capitalized, "oneTwoThree", "OneTwoThree"),
        (.convertToSnakeCase, "myID", "my_id"), (.convertToSnakeCase, "singleB", "single_b"),
        (.convertToSnakeCase, "lower", "lower"), (.convertToSnakeCase, "", ""),
        (.convertToSnakeCase, "getHTTPResponseCode", "get_http_response_code"),
        (.convertToKebabCase, "myURLProperty", "my-url-property"), (.convertToKebabCase, "a", "a"),
        (.convertToKebabCase, "", ""), (.capitalized, "", ""), (.capitalized, "a", "A"),
        (.capitalized, "already", "Already"), (.uppercased, "aBc", "ABC"), (.lowercased, "AbC", "abc"),
        (.uppercased, "ß", "SS"), (.useDefaultKeys, "a b", "a b"), (.custom { $0 + "!" }, "a", "a!"),
    ])
    func `each key encoding converts keys`(way: URLEncodedFormEncoder.KeyEncoding, name: String, key: String) throws {
        let encoder = URLEncodedFormEncoder(
            keyEncoding: way,
            allowedCharacters: Set((name + key + "!1").unicodeScalars)
        )
        #expect(try encoder.encode([name: 1]) == key + "=1")
    }

    @Test(arguments: [
        (URLEncodedFormEncoder.ArrayEncoding.brackets, "a[][]=1&a[][]=2"), (.noBrackets, "a=1&a=2"),
        (.indexInBrackets, "a[0][0]=1&a[0][1]=2"), (.custom { key, index in "\(key)-\(index)" }, "a-0-0=1&a-0-1=2"),
    ])
    func `each array encoding applies to nested arrays`(way: URLEncodedFormEncoder.ArrayEncoding, text: String) throws {
        #expect(Self.plain(try URLEncodedFormEncoder(arrayEncoding: way).encode(["a": [[1, 2]]])) == text)
    }
}
