import FoundationEssentials
import LinuxSupport
import TestSupport
import Testing

@testable import ReachabilityRequests

/// Random header fields. Parsed values keep their invariants, and no input traps. CHECK_MUTATIONS sets the number of inputs.
struct FuzzTests {
    private static let pieces = [
        "bytes", " ", "0", "-", "9", "/", "10", "*", "99999999999999999999", "=", ";", "\"", "\\", "a", "text",
        "charset",
        "utf-8", "filename", "filename*", "UTF-8''", "%e2", "%", "..", "\u{0}", "\r\n", "é", "'", ",", "\t",
        "attachment",
    ]

    private static func texts(_ seed: UInt64, _ check: (String) throws -> Void) async rethrows {
        var random = SeededGenerator(seed: seed)
        for round in 0..<MutationCount.value / 20 {
            let count = Int.random(in: 0...12, using: &random)
            try check((0..<count).map { _ in pieces.randomElement(using: &random) ?? "" }.joined())
            await takeTurns(in: round)
        }
    }

    @Test func `a parsed range stays within its total`() async {
        await Self.texts(1) { text in
            guard case .part(let first, let last, let total)? = ContentRange(text) else { return }
            #expect(first >= 0 && first <= last && last < total ?? .max, "\(text)")
        }
    }

    @Test func `no file name of a server leaves its directory`() async {
        await Self.texts(2) { text in
            guard let name = ContentDisposition(text)?.safeFileName else { return }
            let isSafe = !name.isEmpty && name.first != "." && !name.contains { "/\\\0".contains($0) }
            #expect(isSafe && name.utf8.count <= 255, "\(text)")
        }
    }

    @Test func `a parsed media type consists of tokens, and its text is parsed to the same type`() async {
        await Self.texts(3) { text in
            guard let type = MIMEType(text) else { return }
            #expect(type.type.isToken && type.subtype.isToken, "\(text)")
            #expect(MIMEType(type.description)?.description == type.description, "\(text)")
        }
    }

    @Test func `a parsed length is not negative`() async {
        await Self.texts(4) { text in
            let head = HTTPURLResponse(text: "", statusCode: 200, headers: ["Content-Length": text])
            #expect((head.expectedContentLength >= -1 && head.contentLength ?? 0 >= 0), "\(text)")
        }
    }

    @Test(arguments: [
        ("7", 7), ("7 , 7,7 ", 7), ("7, 8", nil), ("7,", nil), ("+7", nil), ("", nil), ("7x", nil),
        ("99999999999999999999", nil),
    ])
    func `several equal lengths are one`(text: String, length: Int64?) {
        #expect(HTTPURLResponse(text: "", statusCode: 200, headers: ["Content-Length": text]).contentLength == length)
    }

    @Test func `an encoded form contains only permitted characters, and is decoded to its input`() async throws {
        try await Self.texts(5) { text in
            let form = try URLEncodedFormEncoder().encode([text: [text: text]])
            let isPlain = form.utf8.allSatisfy { (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "#") }
            #expect(isPlain && form.filter { $0 == "=" }.count == 1 && !form.contains("&"), "\(text)")
            let value = form.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)[1]
            #expect(value.percentDecoded() == Array(text.utf8), "\(text)")
        }
    }
}
