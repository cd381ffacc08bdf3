import Testing

@testable import Netlink

@Suite struct ProcessRecordTests {
    private static let end =
        "1 4242 4242 0 -1 %FLAGS 101 0 0 0 3 1 0 0 20 0 %THREADS 0 1715628 9216000 300 184467440737095516"

    private func makeRecord(
        name: String = "ip",
        state: String = "R",
        flags: String = "4194304",
        threads: String = "1"
    ) -> ProcessRecord? {
        let end = Self.end.replacing("%FLAGS", with: flags).replacing("%THREADS", with: threads)
        return makeRecord(text: Array("4242 (\(name)) \(state) \(end)\n".utf8))
    }

    private func makeRecord(text: [UInt8]) -> ProcessRecord? { text.withUnsafeBytes { ProcessRecord(text: $0) } }

    @Test(arguments: ["ip", "", "a b", ")", ") R 1 2 3", "((", "a) S (b", "\n", "x) Z 0 0 0 0 0 4", "naïve"])
    func `a name may contain anything`(name: String) throws {
        let record = try #require(makeRecord(name: name, threads: "7"))
        #expect(record.isRunning)
        #expect(record.threads == 7)
    }

    @Test func `states`() throws {
        for state in ["R", "D"] { #expect(try #require(makeRecord(state: state)).isRunning) }
        for state in ["S", "T", "t", "Z", "X", "I", "P"] { #expect(try !#require(makeRecord(state: state)).isRunning) }
    }

    @Test func `what is about to end does not count as running`() throws {
        #expect(try !#require(makeRecord(flags: "4194308")).isRunning)
        #expect(try #require(makeRecord(flags: "4294967291")).isRunning)
    }

    @Test(arguments: ["-1", "x", "4294967296", "99999999999999999999", "1x"])
    func `fields that are no numbers`(text: String) {
        #expect(makeRecord(flags: text) == nil)
        #expect(makeRecord(threads: text) == nil)
    }

    @Test func `a line that is cut off is none`() throws {
        let line = Array(
            "4242 (a) b) R \(Self.end.replacing("%FLAGS", with: "0").replacing("%THREADS", with: "3"))".utf8
        )
        let whole = try #require(makeRecord(text: line))
        #expect(whole.threads == 3)
        var complete = 0
        for count in line.indices {
            // What is cut off after the last field that matters still counts, cut numbers do not make others wrong.
            guard let record = makeRecord(text: Array(line[..<count])) else { continue }
            #expect(record.isRunning && record.threads == 3)
            complete += 1
        }
        #expect(complete > 0 && complete < line.count / 2)
    }

    @Test func `random bytes are survived`() {
        var random = DecoderMutator(seed: 1)
        let alphabet = Array("() RSZ0123456789-\n\u{0}\u{ff}".utf8)
        for round in 0..<2000 {
            let bytes = (0..<Int.random(in: 0...200, using: &random)).map { _ in
                round % 2 == 0 ? alphabet.randomElement(using: &random) ?? 0 : UInt8.random(in: 0...255, using: &random)
            }
            _ = makeRecord(text: bytes)
        }
    }
}
