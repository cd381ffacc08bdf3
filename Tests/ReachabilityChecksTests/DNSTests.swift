import LinuxSupport
import TestSupport
import Testing

@testable import ReachabilityChecks

struct DNSTests {
    /// `ipv4only.arpa` with both addresses of RFC 7050. The owner is a pointer to the question.
    static let known = hex(
        """
        1234 8180 0001 0002 0000 0001 08 697076346f6e6c79 04 61727061 00 0001 0001
        c00c 0001 0001 0000 0e10 0004 c00000aa c00c 0001 0001 0000 0e10 0004 c00000ab
        00 0029 04d0 0000 0000 0000
        """
    )
    /// `www.example.org`, an alias of `example.org`, whose address is 2001:db8::5.
    static let alias = hex(
        """
        0007 8180 0001 0002 0000 0000 03 777777 07 6578616d706c65 03 6f7267 00 001c 0001
        c00c 0005 0001 0000 003c 0002 c010 c010 001c 0001 0000 003c 0010 20010db8000000000000000000000005
        """
    )
    /// NXDOMAIN with the SOA of the root, and EDE 15.
    static let absent = hex(
        """
        0001 8183 0001 0000 0001 0001 01 61 07 696e76616c6964 00 0001 0001
        00 0006 0001 0000 0384 0016 00 00 00000001 00000002 00000003 00000004 0000012c
        00 0029 04d0 0000 0000 0006 000f 0002 000f
        """
    )

    private func name(_ text: String) throws -> DNSName { try #require(DNSName(text)) }

    @Test func `addresses of a response are returned`() throws {
        let question = DNSQuestion(try name("IPv4only.ARPA."), .a, identifier: 0x1234)
        guard case .whole(let message) = DNSAnswer(Self.known, to: question) else {
            Issue.record("the message is incomplete")
            return
        }
        #expect(message.addresses(of: question.name).map(\.description) == ["192.0.0.170", "192.0.0.171"])
        #expect(message.code == .noError && message.flags.contains(.recursionAvailable))
    }

    @Test func `aliases are followed`() throws {
        let message = try DNSMessage(Self.alias)
        #expect(message.addresses(of: try name("www.example.org")).map(\.description) == ["2001:db8::5"])
        #expect(message.addresses(of: try name("other.example.org")) == [])
    }

    @Test func `NXDOMAIN and an extended error are parsed`() throws {
        let message = try DNSMessage(Self.absent)
        #expect(message.code == .nameError)
        #expect(message.extendedErrors == [15])
    }

    @Test func `responses to other questions are not accepted`() throws {
        let name = try name("ipv4only.arpa")
        #expect(DNSAnswer(Self.known, to: DNSQuestion(name, .a, identifier: 1)) == .mismatched)
        #expect(DNSAnswer(Self.known, to: DNSQuestion(name, .aaaa, identifier: 0x1234)) == .mismatched)
        #expect(DNSAnswer(Self.known, to: DNSQuestion(try self.name("a"), .a, identifier: 0x1234)) == .mismatched)
        let question = DNSQuestion(name, .a, identifier: 0x1234)
        #expect(DNSAnswer(question.bytes, to: question) == .mismatched, "the query itself is not an answer")
        #expect(DNSAnswer([], to: question) == .mismatched)
        #expect(DNSAnswer([0x12], to: question) == .mismatched, "any host may have sent the answer")
        #expect(DNSAnswer([0x12, 0x34, 0x80], to: question) == .malformed(.short))
    }

    @Test func `a truncated response is recognised at any length`() throws {
        let question = DNSQuestion(try name("ipv4only.arpa"), .a, identifier: 0x1234)
        var bytes = Self.known
        bytes[2] |= 2
        for count in 31...bytes.count {
            guard case .truncated = DNSAnswer(Array(bytes.prefix(count)), to: question) else {
                Issue.record("not truncated: \(count)")
                return
            }
        }
        #expect(DNSAnswer(Array(Self.known.dropLast(20)), to: question) == .malformed(.short))
    }

    @Test func `compression loops are refused`() throws {
        let head = hex("0001 8180 0001 0000 0000 0000")
        for name in ["c00c", "c00e c00c", "03 616263 c00c", "ffff", "40 00", "80 00"] {
            #expect(throws: DNSFault.self) { try DNSMessage(head + hex(name) + hex("0001 0001")) }
        }
    }

    @Test func `labels and names have a maximum length`() throws {
        #expect(DNSName(String(repeating: "a", count: 63)) != nil)
        #expect(DNSName(String(repeating: "a", count: 64)) == nil)
        #expect(DNSName("a..b") == nil)
        let label = String(repeating: "a", count: 63)
        let longest = "\(label).\(label).\(label).\(String(repeating: "a", count: 61))"
        #expect(DNSName(longest)?.bytes.count == 255)
        #expect(DNSName(longest + "a") == nil)
        #expect(DNSName(labels: [[0x1b, 0x2e]])?.description == "\\027\\046")
    }

    @Test func `an own question can be parsed`() throws {
        for (text, type) in [("a", DNSRecordType.a), ("ipv4only.arpa", .aaaa), (".", .cname)] {
            let question = DNSQuestion(try name(text), type, identifier: 77)
            let message = try DNSMessage(question.bytes)
            #expect(message.questions.map(\.name) == [question.name] && message.questions.map(\.type) == [type])
            #expect(message.identifier == 77 && message.flags == .recursionDesired)
        }
    }

    @Test func `messages in a stream are framed by their length`() throws {
        let framed = try #require(DNSStream.frame(Self.known)) + (DNSStream.frame(Self.alias) ?? [])
        for count in 0..<(2 + Self.known.count) { #expect(DNSStream.first(in: Array(framed.prefix(count))) == nil) }
        #expect(DNSStream.first(in: framed).map(Array.init) == Self.known)
        #expect(DNSStream.frame([UInt8](repeating: 0, count: 65_536)) == nil)
    }

    @Test func `damaged messages never crash the parser`() async throws {
        var chance = SeededGenerator(seed: 17)
        let question = DNSQuestion(try name("ipv4only.arpa"), .a, identifier: 0x1234)
        for round in 0..<MutationCount.value {
            await takeTurns(in: round)
            let good = [Self.known, Self.alias, Self.absent][round % 3]
            let bytes = DamagedBytes.make(from: good, using: &chance)
            if case .whole(let message) = DNSAnswer(bytes, to: question) {
                // A record has at least eleven bytes.
                #expect(message.answers.count * 11 <= bytes.count)
                _ = message.addresses(of: question.name)
            }
        }
    }

    @Test func `chains of compression pointers are limited`() {
        // Each pointer leads to another one, two bytes further to the front.
        var bytes = hex("0001 8180 0001 0000 0000 0000") + [1, 97, 0]
        for index in 0..<6000 {
            let target = index == 0 ? 12 : 15 + 2 * (index - 1)
            bytes += [0xc0 | UInt8(target >> 8), UInt8(target & 0xff)]
        }
        var reader = DNSReader(bytes)
        #expect(throws: Never.self) { _ = try reader.take(bytes.count - 2) }
        #expect(throws: DNSFault.badLabel) { _ = try reader.name() }
    }
}

/// Returns the bytes of a hexadecimal dump with spaces.
func hex(_ text: String) -> [UInt8] {
    let digits = text.filter(\.isHexDigit).compactMap(\.hexDigitValue)
    return stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
}
