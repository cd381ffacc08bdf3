import LinuxSupport
import NetworkLab
import NetworkReachability
import TestSupport
import Testing

@testable import ReachabilityChecks

/// Records of all types that a target may name.
@Suite struct RecordTests {
    /// Returns a response about `example.org` with records of its name.
    private func message(_ type: DNSRecordType, _ data: [UInt8]...) throws -> DNSMessage {
        let number = UInt8(truncatingIfNeeded: type.rawValue)
        var bytes = hex("0007 8180 0001 00")
        bytes.append(UInt8(data.count))
        bytes += hex("0000 0000 07 6578616d706c65 03 6f7267 00 00")
        bytes += [number, 0, 1]
        for data in data {
            bytes += hex("c00c 00")
            bytes.append(number)
            bytes += hex("0001 0000 003c 00")
            bytes.append(UInt8(data.count))
            bytes += data
        }
        return try DNSMessage(bytes)
    }

    @Test func `records have their usual notation`() throws {
        let name = try #require(DNSName("example.org"))
        // `mail.example.org`, with a pointer to the question.
        let mail = hex("04 6d61696c c00c")
        #expect(
            try message(.mx, hex("000a") + mail, hex("0014 00")).records(of: name, .mx) == [
                "10 mail.example.org", "20 .",
            ]
        )
        #expect(
            try message(.srv, hex("0000 0005 13c5") + mail).records(of: name, .srv) == ["0 5 5061 mail.example.org"]
        )
        #expect(try message(.ns, mail).records(of: name, .ns) == ["mail.example.org"])
        #expect(try message(.ptr, mail).records(of: name, .ptr) == ["mail.example.org"])
        #expect(try message(.cname, mail).records(of: name, .cname) == ["mail.example.org"])
        #expect(try message(.txt, hex("03 613d31 02 0a62"), [0]).records(of: name, .txt) == ["a=1\\u{a}b", ""])
        #expect(try message(.mx, hex("000a") + mail).records(of: name, .txt) == [])
    }

    @Test(arguments: [
        (DNSRecordType.mx, "00"), (.srv, "0000 0005"), (.txt, "05 6161"), (.ns, ""), (.ptr, "04 6d61"),
        (.mx, "000a 00 00"),
    ])
    func `records that do not have the length of their type are malformed`(type: DNSRecordType, data: String) throws {
        #expect(throws: DNSFault.self) { try message(type, hex(data)) }
    }

    @Test(arguments: [
        ("example.org", DNSRecordType.a), ("example.org?type=MX", .mx), ("_sip._tcp.example.org?type=srv", .srv),
        ("müller.example?type=AAAA", .aaaa),
    ])
    func `a target names a type`(text: String, type: DNSRecordType) throws {
        let target = try CheckTarget("dns://192.0.2.53/\(text)")
        guard case .dns(let query) = target.service else {
            Issue.record("\(target)")
            return
        }
        #expect(query.type == type && target.decisive == .dns)
    }

    @Test(arguments: ["?type=MX", "a?type=", "a?type=ANY", "a?class=IN", "a?type=MX&x", "a..b?type=MX"])
    func `an invalid query in a dns URL is refused`(text: String) {
        #expect(throws: CheckInputError.self) { try CheckTarget("dns://192.0.2.53/\(text)") }
    }

    @Test(arguments: [
        ("A", "192.0.2.1", "192.0.2.1"), ("AAAA", "2001:DB8:0::1", "2001:db8::1"),
        ("MX", "10  Mail.Example.org.", "10 mail.example.org"),
        ("SRV", "0 5 5061 sip.example.org", "0 5 5061 sip.example.org"), ("NS", "NS1.example.org", "ns1.example.org"),
        ("TXT", "v=spf1 -ALL", "v=spf1 -ALL"),
    ])
    func `an expected record is compared in its usual notation`(type: String, text: String, record: String) throws {
        let target = try CheckTarget.dns(at: "192.0.2.53", "example.org", type: type, expecting: [text])
        guard case .dns(let query) = target.service else { return }
        #expect(query.problem(in: [record, "other"]) == nil)
        #expect(query.problem(in: ["other"]) == "example.org has the \(type) records other, without \(record)")
    }

    @Test(arguments: [
        ("A", "2001:db8::1"), ("AAAA", "192.0.2.1"), ("A", "x"), ("MX", "mail.example.org"), ("MX", "70000 a"),
        ("SRV", "1 2 a"), ("NS", "a b"),
    ])
    func `a text that is not a record of the type is refused`(type: String, text: String) {
        #expect(throws: CheckInputError.self) {
            try CheckTarget.dns(at: "192.0.2.53", "a", type: type, expecting: [text])
        }
    }

    @Test func `a server that returns other records is at fault`() async throws {
        let zone = ["www.example": ["192.0.2.9", "192.0.2.10"]]
        try await AskedLine.run(.ipv4, zone: zone) { line in
            func verdict(_ name: String, _ expected: String...) async throws -> CheckVerdict {
                let address = ProbedLine.world(.ipv4)
                let target = try CheckTarget.dns(at: address, name, expecting: expected)
                guard case .dns(let query) = target.service, let server = IPAddress(address) else {
                    throw LabError("no query")
                }
                let result = try await line.line.prober(.ipv4).query(target: server, query, 7, limit: .patience)
                return line.judge([result]) { $0.target = target }
            }
            #expect(try await verdict("www.example", "192.0.2.10").failurePoint == .works)
            #expect(try await verdict("www.example", "192.0.2.9", "192.0.2.10").failurePoint == .works)
            let other = try await verdict("www.example", "192.0.2.11")
            #expect(other.failurePoint == .dns && other.reason == .recordNotExpected)
            #expect(other.text.hasSuffix("www.example has the A records 192.0.2.9, 192.0.2.10, without 192.0.2.11"))
            #expect(try await verdict("absent.example").reason == .nameNotFound)
        }
    }
}
