import FoundationEssentials
import TestSupport
import Testing

@testable import ReachabilityRequests

/// The rows of the table of ``ResumeDecision``.
struct ResumeDecisionTests {
    private static let known = ResumeData(url: "http://h/f", validator: "\"v\"", total: 10)

    private static func decide(
        _ status: Int,
        _ headers: HTTPHeaders,
        from offset: Int64? = 4,
        known: ResumeData? = known
    ) -> ResumeDecision {
        ResumeDecision(HTTPURLResponse(text: "", statusCode: status, headers: headers), askedFrom: offset, of: known)
    }

    @Test(
        arguments: [
            (206, ["Content-Range": "bytes 4-9/10", "ETag": "\"v\""], 4),
            (206, ["Content-Range": "bytes 4-9/10", "ETag": "\"v\"", "Content-Length": "6"], 4),
            (206, ["Content-Range": "bytes 2-9/10", "ETag": "\"v\""], 2),
            (206, ["Content-Range": "bytes 4-9/*", "ETag": "\"v\""], 4),
            (206, ["Content-Range": "bytes 4-6/10", "ETag": "\"v\""], 4),
            (200, ["Content-Length": "10"], 0), (200, ["Content-Length": "99", "ETag": "\"w\""], 0), (203, [:], 0),
            (206, ["Content-Range": "bytes 5-9/10", "ETag": "\"v\""], nil), (206, [:], nil),
            (206, ["Content-Range": "bytes 4-9/10"], nil),
            (206, ["Content-Range": "bytes 4-9/10", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], nil),
            (206, ["Content-Range": "bytes 4-9223372036854775807/*", "ETag": "\"v\""], nil),
            (206, ["Content-Range": "bytes 0-9223372036854775807/*", "ETag": "\"v\"", "Content-Length": "1"], nil),
            (206, ["Content-Range": "bytes 0-9223372036854775806/9223372036854775807", "ETag": "\"v\""], nil),
            (206, ["Content-Range": "bytes 4-9/11", "ETag": "\"v\""], nil),
            (206, ["Content-Range": "bytes 4-9/10", "ETag": "\"w\""], nil),
            (206, ["Content-Range": "bytes 4-9/10", "ETag": "W/\"v\""], nil),
            (206, ["Content-Range": "bytes 9-4/10"], nil), (206, ["Content-Range": "pages 4-9/10"], nil),
            (206, ["Content-Type": "multipart/byteranges; boundary=x"], nil),
            (206, ["Content-Range": "bytes 4-9/10", "Content-Encoding": "gzip"], nil),
            (206, ["Content-Range": "bytes 4-9/10", "Content-Length": "7"], nil), (412, [:], nil), (416, [:], nil),
            (416, ["Content-Range": "bytes */11"], nil), (416, ["Content-Range": "bytes */4"], nil),
        ] as [(Int, HTTPHeaders, Int64?)]
    )
    func `an answer to a range request continues the file, or starts it over`(
        status: Int,
        headers: HTTPHeaders,
        place: Int64?
    ) {
        let decision = Self.decide(status, headers)
        if let place {
            guard case .write(at: place, _) = decision else { return #expect(Bool(false), "\(decision)") }
        } else {
            guard case .startOver = decision else { return #expect(Bool(false), "\(decision)") }
        }
    }

    @Test func `an entity tag with other bytes is another tag`() {
        let known = ResumeData(url: "http://h/f", validator: "\"\u{e9}\"", total: 10)
        let headers: HTTPHeaders = ["Content-Range": "bytes 4-9/10", "ETag": "\"e\u{301}\""]
        guard case .startOver = Self.decide(206, headers, known: known) else { return #expect(Bool(false)) }
    }

    @Test(
        arguments: [
            (["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], true),
            (["Last-Modified": "Mon, 07 Nov 1994 08:49:37 GMT"], false), ([:], false), (["ETag": "\"v\""], false),
        ] as [(HTTPHeaders, Bool)]
    )
    func `a part is joined only if Last-Modified is the same`(headers: HTTPHeaders, isJoined: Bool) {
        let known = ResumeData(url: "http://h/f", validator: "Sun, 06 Nov 1994 08:49:37 GMT", total: 10)
        var headers = headers
        headers.add(name: "Content-Range", value: "bytes 4-9/10")
        let decision = Self.decide(206, headers, known: known)
        if isJoined {
            #expect(decision == .write(at: 4, total: 10))
        } else {
            #expect(decision == .startOver("the part is not proved to be of the same file"))
        }
    }

    @Test func `a complete part is recognized`() {
        #expect(Self.decide(416, ["Content-Range": "bytes */10"], from: 10) == .complete)
        let known = ResumeData(url: "", validator: "\"v\"", total: nil)
        let headers: HTTPHeaders = ["Content-Range": "bytes */4", "ETag": "\"v\""]
        #expect(Self.decide(416, headers, known: known) == .complete)
        // Another version of the file may have the length of the part.
        for tag in ["W/\"v\"", "\"w\"", nil] {
            var headers: HTTPHeaders = ["Content-Range": "bytes */4"]
            if let tag { headers.add(name: "ETag", value: tag) }
            guard case .startOver = Self.decide(416, headers, known: known) else { return #expect(Bool(false)) }
        }
    }

    @Test(arguments: [404, 500, 503, 301, 304, 401, 100])
    func `a rejected status leaves the part unchanged`(status: Int) {
        #expect(Self.decide(status, [:]) == .refuse && Self.decide(status, [:], from: nil) == .refuse)
    }

    @Test func `an answer with a range that was not requested is an error`() {
        #expect(Self.decide(206, ["Content-Range": "bytes 0-9/10"], from: nil, known: nil) == .unexpectedPart)
        #expect(Self.decide(200, ["Content-Length": "7"], from: nil, known: nil) == .write(at: 0, total: 7))
    }

    @Test(
        arguments: [
            ("bytes 0-9/10", ContentRange.part(first: 0, last: 9, total: 10)),
            ("bytes 0-0/1", .part(first: 0, last: 0, total: 1)), ("BYTES 1-2/*", .part(first: 1, last: 2, total: nil)),
            ("bytes */5", .unsatisfied(total: 5)), ("bytes  0-9/10 ", .part(first: 0, last: 9, total: 10)),
            ("bytes 0-10/10", nil), ("bytes 2-1/10", nil), ("bytes */*", nil), ("bytes 0-9", nil),
            ("bytes", nil), ("", nil), ("bytes=0-9/10", nil), ("bytes -1-9/10", nil), ("bytes 0-9/10x", nil),
            ("bytes 0-9/10, 10-19/20", nil), ("bytes 0-99999999999999999999/*", nil), ("octets 0-9/10", nil),
        ] as [(String, ContentRange?)]
    )
    func `Content-Range is parsed strictly`(text: String, range: ContentRange?) {
        #expect(ContentRange(text) == range)
    }

    @Test(
        arguments: [
            (["ETag": "\"a\""], "\"a\""), (["ETag": "W/\"a\""], nil), (["ETag": "a"], nil), ([:], nil),
            (["ETag": "\""], nil), (["ETag": "\"a\", \"b\""], nil), (["ETag": "\"\""], "\"\""),
            (
                ["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:50:37 GMT"],
                "Sun, 06 Nov 1994 08:49:37 GMT"
            ),
            (["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT", "Date": "Sun, 06 Nov 1994 08:50:36 GMT"], nil),
            (["Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT"], nil),
            (
                [
                    "ETag": "W/\"a\"", "Last-Modified": "Sun, 06 Nov 1994 08:49:37 GMT",
                    "Date": "Sun, 06 Nov 1994 08:55:37 GMT",
                ], nil
            ),
        ] as [(HTTPHeaders, String?)]
    )
    func `only strong validators are accepted`(headers: HTTPHeaders, validator: String?) {
        #expect(
            ResumeData(url: "http://h/", HTTPURLResponse(text: "", statusCode: 200, headers: headers))?.validator
                == validator
        )
    }

    @Test(arguments: [
        ("http://u:p@h/a@b#f", "http://h/a@b"), ("http://h/?a=b@c", "http://h/?a=b@c"), ("http://h", "http://h"),
    ])
    func `the stored URL has no credentials`(url: String, plain: String) {
        #expect(ResumeData.plain(url) == plain)
    }

    @Test(
        arguments: [
            ("attachment; filename=a.txt", "a.txt"), ("attachment; filename=\"a b.txt\"", "a b.txt"),
            ("inline; filename=\"../../etc/passwd\"", "passwd"), ("attachment; filename=\"..\\\\..\\\\x\"", "x"),
            ("attachment; filename=\".bashrc\"", "bashrc"), ("attachment; filename=\"..\"", nil),
            ("attachment; filename=a; filename*=UTF-8''%e2%82%ac.txt", "€.txt"),
            ("attachment; filename*=UTF-8''%zz; filename=b", "b"),
            ("attachment; filename=\"../\u{301}x\"", "\u{301}x"),
            ("attachment; filename=\"..\\\\\u{301}x\"", "\u{301}x"),
            ("attachment", nil), ("attachment; filename=\"a\u{7}b\"", "ab"), ("attachment; filename=\"x/\"", nil),
            ("attachment; filename*=ISO-8859-1''a", nil), ("attachment; filename*=UTF-8''%2e%2e%2fpasswd", "passwd"),
        ] as [(String, String?)]
    )
    func `file names of servers are made safe`(text: String, name: String?) {
        #expect(ContentDisposition(text)?.safeFileName == name)
    }

    @Test func `extreme numbers in fields never cause an invalid range`() {
        let numbers = ExtremeValues.integers.map(String.init) + ["9223372036854775808", "\u{661}", "+1", "1\u{301}"]
        let known = ResumeData(url: "http://h/f", validator: "\"v\"", total: nil)
        for first in numbers {
            for last in numbers {
                for total in numbers + ["*"] {
                    for length in [nil, first, last] {
                        var headers: HTTPHeaders = [
                            "ETag": "\"v\"", "Content-Range": "bytes \(first)-\(last)/\(total)",
                        ]
                        if let length { headers.add(name: "Content-Length", value: length) }
                        for offset in [1, 4, Int64.max - 1, .max] {
                            switch Self.decide(206, headers, from: offset, known: known) {
                            case .write(let place, let total):
                                #expect(place >= 0 && place <= offset && total.map { $0 > place } ?? true)
                            default: break
                            }
                            _ = Self.decide(416, headers, from: offset, known: known)
                        }
                        _ = Self.decide(200, headers, from: nil, known: nil)
                    }
                }
            }
        }
    }

    @Test func `damaged fields never cause an invalid range or file name`() async {
        var random = SeededGenerator(seed: 19)
        let seeds = [
            "bytes 0-9/10", "attachment; filename*=UTF-8''%e2%82%ac; filename=\"a\\\"b\"",
            "text/html; charset=\"utf-8\"; a=b",
        ].map { Array($0.utf8) }
        for round in 0..<20_000 {
            await takeTurns(in: round)
            var bytes = seeds[round % seeds.count]
            for _ in 0..<Int.random(in: 1...4, using: &random) {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                bytes[place] = UInt8.random(in: 0...127, using: &random)
                if bytes.count > 2, Bool.random(using: &random) {
                    bytes.remove(at: Int.random(in: 0..<bytes.count, using: &random))
                }
            }
            let text = String(decoding: bytes, as: UTF8.self)
            if case .part(let first, let last, let total)? = ContentRange(text) {
                #expect(first >= 0 && first <= last && (total.map { last < $0 } ?? true))
            }
            if let name = ContentDisposition(text)?.safeFileName {
                #expect(!name.contains("/") && !name.hasPrefix(".") && !name.isEmpty)
            }
            _ = MIMEType(text)
        }
    }
}
