import FoundationEssentials
import NetworkLab
import ReachabilityAlamofire
import Testing

struct PropertyListTests {
    private static let date = Date(timeIntervalSince1970: 1_800_000_000)

    private static func xml(_ body: String, type: String = "") -> Data {
        Data("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\(type)<plist version=\"1.0\">\(body)</plist>".utf8)
    }

    private static func value(of data: Data) throws -> any Sendable {
        try PropertyListResponseSerializer().serialize(request: nil, response: nil, data: data, error: nil)
    }

    @Test(arguments: [PropertyListEncoding.xml, .binary])
    func `parameters are sent as a property list, and its values are read`(encoding: PropertyListEncoding) async throws
    {
        let server = try ScriptedServer { seen in
            .status(200, headers: [("Content-Type", seen.fields["content-type"] ?? "")], body: seen.body)
        }
        defer { server.stop() }
        let parameters: Parameters = [
            "text": "a<b", "number": 1, "real": 1.5, "flag": true, "date": Self.date, "data": Data([1, 2]),
            "list": ["x", 2, ["deep": false]] as [any Sendable],
        ]
        let session = Session()
        let request = session.request(server.url("/"), method: .post, parameters: parameters, encoding: encoding)
        let value = await withCheckedContinuation { continuation in
            request.validate(contentType: ["application/x-plist"]).responsePropertyList {
                continuation.resume(returning: $0.value as? [String: any Sendable])
            }
        }
        let read = try #require(value)
        #expect(read["text"] as? String == "a<b" && read["number"] as? Int == 1 && read["real"] as? Double == 1.5)
        #expect(
            read["flag"] as? Bool == true && read["date"] as? Date == Self.date
                && read["data"] as? Data == Data([1, 2])
        )
        let list = try #require(read["list"] as? [Any])
        #expect(
            list[0] as? String == "x" && list[1] as? Int == 2
                && (list[2] as? [String: Any])?["deep"] as? Bool == false
        )
        #expect(read.count == 7 && list.count == 3)
        struct Part: Decodable, Sendable { var number: Int }
        let again = session.request(server.url("/"), method: .post, parameters: parameters, encoding: encoding)
        #expect(try await again.serializingDecodable(Part.self, decoder: PropertyListDecoder()).value.number == 1)
    }

    @Test func `a value or text that is not a property list is an error`() throws {
        let request = try URLRequest(url: "http://h/", method: .post)
        for value: any Sendable in [Int?.none, URL(filePath: "/"), [Int?.none]] {
            let error = #expect(throws: AFError.self) {
                try PropertyListEncoding.default.encode(request, with: ["a": value])
            }
            #expect(error?.isParameterEncodingError == true)
        }
        #expect(try PropertyListEncoding.default.encode(request, with: nil) == request)
        for text in [
            "", "list", "<plist>", "bplist00", "{ a = 1; }", "(\"\\Ud800\")", "( <\u{20ac}> )",
            "<plist><dict><key>a</key></dict></plist>",
        ] {
            #expect(throws: AFError.self, "\(text)") { try Self.value(of: Data(text.utf8)) }
        }
    }

    @Test func `entities of a document are not expanded`() {
        var type = "<!DOCTYPE plist [<!ENTITY e0 \"lol\">"
        for level in 1..<30 { type += "<!ENTITY e\(level) \"\(String(repeating: "&e\(level - 1);", count: 10))\">" }
        type += "<!ENTITY file SYSTEM \"file:///etc/passwd\">]>"
        for entity in ["&e29;", "&file;", "&e0;"] {
            let text = try? Self.value(of: Self.xml("<string>\(entity)</string>", type: type)) as? String
            #expect(text == nil || text?.contains("lol") == false && text?.contains("root") == false)
        }
        #expect((try? Self.value(of: Self.xml("<string>&lt;&amp;&#65;</string>"))) as? String == "<&A")
    }

    /// A binary list of arrays. Each array refers to objects by their numbers.
    private static func binary(_ arrays: [[UInt8]]) -> Data {
        var data = Data("bplist00".utf8)
        var offsets: [UInt8] = []
        for array in arrays {
            offsets.append(UInt8(data.count))
            data += [0xa0 | UInt8(array.count)] + array
        }
        let table = UInt8(data.count)
        data += offsets
        data += [0, 0, 0, 0, 0, 0, 1, 1]
        for number in [UInt8(arrays.count), 0, table] { data += [UInt8](repeating: 0, count: 7) + [number] }
        return data
    }

    @Test func `a binary list with a cycle or too many shared containers is an error`() throws {
        #expect(try Self.value(of: Self.binary([[1, 2], [], []])) as? [[Int]] == [[], []])
        #expect(throws: AFError.self) { try Self.value(of: Self.binary([[0]])) }
        #expect(throws: AFError.self) { try Self.value(of: Self.binary([[1, 1], [0, 0]])) }
        let levels = (1..<16).map { [UInt8](repeating: UInt8($0), count: 10) } + [[]]
        #expect(throws: AFError.self) { try Self.value(of: Self.binary(levels)) }
    }

    @Test func `damaged lists do not end the process`() throws {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        let good = [
            try encoder.encode(["a": [1, 2], "b": [3]]),
            Self.xml("<dict><key>a</key><array><real>1</real></array></dict>"),
        ]
        var random = SystemRandomNumberGenerator()
        for data in good {
            for _ in 0..<2000 {
                var bytes = [UInt8](data)
                for _ in 0...Int.random(in: 0...3, using: &random) {
                    bytes[Int.random(in: bytes.indices, using: &random)] = .random(in: 0...255, using: &random)
                }
                _ = try? Self.value(of: Data(bytes))
            }
        }
    }

    @Test func `a list with too many levels is an error`() throws {
        let deep = String(repeating: "<array>", count: 100_000)
        let ends = String(repeating: "</array>", count: 100)
        var bodies = [
            deep, String(repeating: "<dict><key>a</key>", count: 50_000),
            String(repeating: "<plist>", count: 100_000),
            String(repeating: "<array><!-- \(ends) -->", count: 10_000),
            String(repeating: "<array><?\(ends)?>", count: 10_000),
            String(repeating: "<array><string><![CDATA[\(ends)]]></string>", count: 10_000),
            String(repeating: "<array x='/>'>", count: 50_000), "<array><?>\(deep)?>",
            "<string><!-- \(deep) --></string>",
        ]
        bodies.append(String(repeating: "<array>", count: 520) + String(repeating: "</array>", count: 520))
        for body in bodies { #expect(throws: AFError.self) { try Self.value(of: Self.xml(body)) } }
        for prolog in ["<?> <!-- ?>", "<!-- <?x -->", "<!DOCTYPE plist <!-- >"] {
            #expect(throws: AFError.self) { try Self.value(of: Data((prolog + deep + "-->").utf8)) }
        }
        #expect(throws: AFError.self) {
            try DecodableResponseSerializer<[Int]>(decoder: PropertyListDecoder())
                .serialize(request: nil, response: nil, data: Self.xml(deep), error: nil)
        }
        // Many elements on the same level are not an error.
        let wide = String(repeating: "<array><!-- x --><string>a<![CDATA[<b>]]></string><true/></array>", count: 2000)
        let doctype =
            "<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" \"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">"
        let value = try Self.value(of: Self.xml("<array>\(wide)</array>", type: doctype))
        #expect((value as? [[Any]])?.count == 2000 && (value as? [[Any]])?.last?.first as? String == "a<b>")
    }
}
