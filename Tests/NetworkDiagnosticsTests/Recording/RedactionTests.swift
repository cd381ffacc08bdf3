import Dispatch
import Foundation
import LinuxSupport
import Netlink
import TestSupport
import Testing

@testable import NetworkDiagnostics

/// The data that is replaced, the data that is kept, and the properties that are preserved.
@Suite struct RedactionTests {
    private static let permutation = AddressPermutation(key: (3, 5))

    @Test func `the hash is SipHash-2-4`() {
        let hash = SipHash((0x0706_0504_0302_0100, 0x0f0e_0d0c_0b0a_0908))
        #expect(hash.hash(Array(0..<15)) == 0xa129_ca61_49be_45e5)
        #expect(hash.hash([]) == 0x726f_db47_dd0e_0e31)
    }

    @Test(arguments: 1...8 as ClosedRange<UInt64>)
    func `two addresses keep the length of their common prefix`(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let permutation = AddressPermutation(key: (seed, 9))
        for family in AddressFamily.allCases {
            for _ in 0..<40 {
                let width = UInt128(family.bitCount)
                let one = UInt128.random(in: 0 ... .max, using: &generator) >> (128 - width)
                let other = one ^ (1 << UInt128.random(in: 0..<width, using: &generator))
                func common(_ one: UInt128, _ other: UInt128) -> Int {
                    (one ^ other).leadingZeroBitCount
                }
                let first = permutation(WireAddress(family: family, bits: one))
                let second = permutation(WireAddress(family: family, bits: other))
                #expect(common(first.bits, second.bits) == common(one, other))
                #expect(first.family == family)
                #expect(first == permutation(WireAddress(family: family, bits: one)))
            }
        }
    }

    @Test(arguments: [
        "0.0.0.0", "127.0.0.1", "127.9.9.9", "255.255.255.255", "224.0.0.1", "224.0.0.251", "::", "::1", "ff02::1",
        "ff02::2",
    ])
    func `addresses with a universal meaning are kept`(address: String) throws {
        let address = try #require(WireAddress(address))
        #expect(Self.permutation(address) == address)
    }

    @Test(arguments: [
        ("10.1.2.3", "10.0.0.0", 8), ("172.20.1.1", "172.16.0.0", 12), ("192.168.7.7", "192.168.0.0", 16),
        ("169.254.3.4", "169.254.0.0", 16), ("100.72.1.1", "100.64.0.0", 10), ("239.1.2.3", "224.0.0.0", 4),
        ("192.0.2.9", "192.0.2.0", 24), ("fe80::1234:5678:9abc:def0", "fe80::", 64), ("fd12:3456::7", "fd00::", 8),
        ("2001:db8:1:2::3", "2001:db8::", 32), ("ff05::1:3", "ff05::", 16), ("::ffff:198.18.0.9", "::ffff:0:0", 96),
        ("2606:4700::1111", "2000::", 3),
    ])
    func `special addresses stay in their range`(address: String, prefix: String, length: Int) throws {
        let address = try #require(WireAddress(address))
        let other = Self.permutation(address)
        #expect(other != address)
        #expect(AddressPrefix(try #require(WireAddress(prefix)), length: length).contains(other))
    }

    @Test func `public addresses stay outside special ranges`() {
        var generator = SeededGenerator(seed: 4)
        let special = ["10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "127.0.0.0/8", "169.254.0.0/16", "224.0.0.0/3"]
            .compactMap { text -> AddressPrefix? in
                let parts = text.split(separator: "/")
                guard let address = WireAddress(String(parts[0])), let length = Int(parts[1]) else { return nil }
                return AddressPrefix(address, length: length)
            }
        for _ in 0..<300 {
            let address = WireAddress(ipv4: .random(in: 0 ... .max, using: &generator))
            for prefix in special {
                #expect(prefix.contains(address) == prefix.contains(Self.permutation(address)), "\(address)")
            }
        }
    }

    @Test func `a redacted recording plays the same lines with other addresses`() throws {
        for (name, bytes) in try SampleRecording.real.sorted(by: { $0.key < $1.key }) {
            let recording = try Recording(bytes)
            let redacted = try Recording(Redactor(key: (1, 2)).redacted(recording).bytes)
            #expect(redacted.header["redacted"] == ["true"])
            let (lines, others) = (try PlayedLines.play(recording), try PlayedLines.play(redacted))
            #expect(others.diagnosis == nil, "\(name)")
            // Texts and times are equal, apart from the replacements of addresses and names.
            func shape(_ lines: [String]) -> [String] {
                lines.map { line in
                    let words = line.split(separator: " ").map { word in
                        let isReplaced = word.contains { $0.isNumber } && word != "u0,"
                        return isReplaced || word == "example.invalid:" ? "*" : String(word)
                    }
                    return words.joined(separator: " ")
                }
            }
            #expect(shape(lines.lines).sorted() == shape(others.lines).sorted(), "\(name)")
        }
    }

    @Test func `a redacted file contains no original address or name`() throws {
        for (name, bytes) in try SampleRecording.real {
            let recording = try Recording(bytes)
            let redacted = Redactor(key: (1, 2)).redacted(recording).bytes
            // All addresses of the test networks, as bytes and as text.
            for address in ["192.0.2.2", "192.0.2.1", "2001:db8::2", "2001:db8::1", "8.8.8.8", "203.0.113.9"] {
                let wire = try #require(WireAddress(address))
                #expect(redacted.firstRange(of: wire.bytes) == nil, "\(name): \(address)")
                #expect(redacted.firstRange(of: Array(address.utf8)) == nil, "\(name): \(address)")
            }
            #expect(redacted.firstRange(of: Array("example.invalid".utf8)) == nil, "\(name)")
        }
    }

    @Test func `a neighbour keeps its state, and not its addresses`() {
        let redaction = MessageRedaction(address: { _ in WireAddress(ipv4: 0x0909_0909) }, hardware: { $0.map { ~$0 } })
        // RTM_NEWNEIGH: header with NUD_FAILED, NDA_DST, NDA_LLADDR, NDA_MASTER (9).
        let head: [UInt8] = [2, 0, 0, 0, 3, 0, 0, 0, 0x20, 0, 0x80, 1]
        let body =
            head + [8, 0, 1, 0, 192, 0, 2, 1] + [10, 0, 2, 0, 2, 1, 1, 1, 1, 1, 0, 0] + [8, 0, 9, 0, 7, 0, 0, 0]
        let message: [UInt8] = [UInt8(16 + body.count), 0, 0, 0, 28, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0] + body
        let redacted = redaction.redacted(message)
        #expect(redacted.prefix(28).elementsEqual(message.prefix(28)))
        #expect(redacted[32..<36].elementsEqual([9, 9, 9, 9]))
        #expect(redacted[40..<46].elementsEqual([253, 254, 254, 254, 254, 254]))
        #expect(redacted.suffix(4).allSatisfy { $0 == 0 })
    }

    @Test func `attributes that are not known to be harmless are zeroed`() {
        let redaction = MessageRedaction(address: { _ in WireAddress(ipv4: 0x0909_0909) }, hardware: { $0.map { ~$0 } })
        // A link: header, IFLA_IFNAME "u0", IFLA_ADDRESS, IFLA_IFALIAS (20) "secret".
        let body: [UInt8] =
            [UInt8](repeating: 7, count: 16) + [7, 0, 3, 0, 0x75, 0x30, 0, 0] + [10, 0, 1, 0, 2, 1, 1, 1, 1, 1, 0, 0]
            + [10, 0, 20, 0] + Array("secret".utf8) + [0, 0]
        let message: [UInt8] = [UInt8(16 + body.count), 0, 0, 0, 16, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0] + body
        let redacted = redaction.redacted(message)
        #expect(redacted.count == message.count)
        #expect(redacted[..<40].elementsEqual(message[..<40]))
        #expect(redacted[44..<50].elementsEqual([253, 254, 254, 254, 254, 254]))
        #expect(redacted[56..<62].allSatisfy { $0 == 0 })
        // A message of an unknown kind, and a truncated one.
        let unknown: [UInt8] = [20, 0, 0, 0, 100, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4]
        #expect(redaction.redacted(unknown).suffix(4).allSatisfy { $0 == 0 })
        #expect(redaction.redacted(Array(message.dropLast(3))).suffix(20).allSatisfy { $0 == 0 })
    }
}

/// The written file, and the behaviour if it cannot be written.
@Suite struct RecordingFileTests {
    private static func path() -> String {
        FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
    }

    @Test func `the file contains everything in sequence, readable by its owner only`() throws {
        let path = Self.path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        let file = try RecordingFile(path, replacing: false) { Issue.record("a write has failed") }
        for number in 0..<1000 { file.write([UInt8(truncatingIfNeeded: number)]) }
        try file.finish()
        #expect(try InputFile.read(path) == (0..<1000).map { UInt8(truncatingIfNeeded: $0) })
        #expect(file.size == 1000)
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `an existing file is replaced only on demand, with restricted permissions`() throws {
        let path = Self.path()
        defer { try? FileManager.default.removeItem(atPath: path) }
        #expect(FileManager.default.createFile(atPath: path, contents: Data("old".utf8)))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: path)
        #expect(throws: SystemError.fileExists) { _ = try RecordingFile(path, replacing: false) {} }
        let file = try RecordingFile(path, replacing: true) {}
        file.write([1])
        try file.finish()
        #expect(try InputFile.read(path) == [1])
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        #expect(attributes[.posixPermissions] as? Int == 0o600)
    }

    @Test func `a full disk is reported once, and at the end`() throws {
        let failures = Locked(0)
        let file = try RecordingFile("/dev/full", replacing: true) { failures.withLock { $0 += 1 } }
        for _ in 0..<10 {
            file.write([1])
            #expect(throws: SystemError.noSpace) { try file.finish() }
        }
        #expect(failures.withLock { $0 } == 1)
        #expect(file.size == 0)
    }

    @Test func `a recording respects its limit including its end`() throws {
        let bytes = Locked<[UInt8]>([])
        let reached = Locked(0)
        let limit = Recorder.leastLimit(SampleRecording.header, redactor: nil) + 2000
        let recorder = Recorder(SampleRecording.header, limit: limit) {
            reached.withLock { $0 += 1 }
        } write: { more in
            bytes.withLock { $0 += more }
        }
        for _ in 0..<1000 { recorder.received([UInt8](repeating: 0, count: 50), from: 0) }
        recorder.finish()
        let all = bytes.withLock { $0 }
        #expect(reached.withLock { $0 } == 1)
        #expect((limit - 300...limit).contains(all.count))
        let recording = try Recording(all)
        #expect(recording.damage == nil)
        #expect(recording.records.last?.note == Note(.end, "", "at its limit"))
    }

    @Test func `only a clock that is set is recorded, before the next turn`() throws {
        let bytes = Locked<[UInt8]>([])
        let now = Locked(SampleRecording.header.start)
        let recorder = Recorder(SampleRecording.header, limit: 1 << 20, clock: { now.withLock { $0 } }) {
            Issue.record("the limit was reached")
        } write: { more in
            bytes.withLock { $0 += more }
        }
        let queue = DispatchQueue(label: "test")
        func turn(real: Duration, monotonic: Duration) {
            now.withLock { now in
                now.real += real
                now.monotonic += monotonic
                now.boot += monotonic
            }
            recorder.begin(on: queue) {}
        }
        turn(real: .seconds(5), monotonic: .seconds(5))
        turn(real: .microseconds(900), monotonic: .zero)
        turn(real: .seconds(-60), monotonic: .seconds(1))
        turn(real: .seconds(1), monotonic: .seconds(1))
        recorder.finish()
        let notes = try Recording(bytes.withLock { $0 }).records.compactMap(\.note)
        #expect(notes.map(\.kind) == [.start, .start, .clock, .start, .start, .end])
        #expect(recorder.moment() == now.withLock { $0 })
    }
}
