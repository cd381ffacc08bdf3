import LinuxPrimitives
import NetlinkRecording
import NetworkReachability
import Testing

@testable import NetworkDiagnostics

/// A recording plays the same each time, and nearly the same when something is missing.
@Suite struct PlayerTests {
    @Test func `the same file plays the same, each time`() throws {
        for (name, bytes) in try SampleRecording.real {
            let recording = try Recording(bytes)
            #expect(recording.damage == nil)
            let first = try PlayedLines.play(recording)
            #expect(first.lines.count > 3, "\(name)")
            #expect(first.diagnosis == nil, "\(name)")
            for _ in 0..<3 { #expect(try PlayedLines.play(recording).lines == first.lines) }
        }
    }

    /// The messages alone, without the turns they began, would be a recording of nothing.
    @Test func `what was never asked is said once, and the nearest answer counts`() throws {
        let recording = try Recording(try #require(try SampleRecording.real["links.nlrec"]))
        let whole = try PlayedLines.play(recording, .status)
        var poorer = recording
        var dropped: Set<[UInt8]> = []
        poorer.records.removeAll { record in
            guard case .asked(let question, _) = record.content, question.subject == .netlink else { return false }
            // Source and interface narrow a question; without them it is asked in these files as well.
            guard case .route = NetlinkRequest(question.detail).subject, question.detail.count > 36 else {
                return false
            }
            dropped.insert(question.detail)
            return true
        }
        #expect(!dropped.isEmpty)
        let (lines, diagnosis) = try PlayedLines.play(poorer, .status)
        #expect(
            try #require(diagnosis).hasSuffix("were never asked in the recording: the nearest answer there was counts")
        )
        func states(_ lines: [String]) -> [Substring] { lines.map { $0.drop { $0 != " " } } }
        #expect(states(lines).first == states(whole.lines).first)
    }

    @Test func `answers are taken in the order of the turns, then the nearest`() throws {
        let question = RecordedQuestion(.netlink, [1])
        func asked(_ answer: UInt8, _ second: Int) -> Record {
            Record(.asked(question, answer: [0, answer]), at: .seconds(second))
        }
        let records = [
            Record(.turn(.start), at: .seconds(20)), asked(1, 21), asked(2, 22),
            Record(.turn(.woke), at: .seconds(30)),
            Record(.turn(.woke), at: .seconds(40)), asked(3, 41),
        ]
        var state = Player.State(try Recording(SampleRecording.bytes(of: records)))
        func answer() -> UInt8? { state.take(question)?.answer.last }
        // Before everything the first there will be is the nearest.
        #expect(answer() == 1)
        _ = state.nextTurn()
        #expect([answer(), answer(), answer()] == [1, 2, 2])
        _ = state.nextTurn()
        #expect([answer(), answer()] == [2, 2])
        _ = state.nextTurn()
        #expect([answer(), answer()] == [3, 3])
        #expect(state.now == .seconds(41))
        #expect(state.take(RecordedQuestion(.netlink, [2])) == nil)
    }

    @Test func `what the recording does not know of comes when it is due`() throws {
        let records = [Record(.turn(.start), at: .seconds(20)), Record(.turn(.woke), at: .seconds(30))]
        var state = Player.State(try Recording(SampleRecording.bytes(of: records)))
        state.enter(.seconds(20))
        let (late, soon, over) = (OneShot {}, OneShot {}, OneShot {})
        state.wait(late, .schedule, .seconds(5))
        state.wait(soon, .soon, .zero)
        state.wait(over, .schedule, .seconds(1))
        over.cancel()
        #expect(state.takeUnrecorded(until: .seconds(20)) === soon)
        #expect(state.takeUnrecorded(until: .seconds(24)) == nil)
        #expect(state.takeUnrecorded(until: .seconds(25)) === late)
        #expect(state.now == .seconds(25))
        #expect(state.takeUnrecorded(until: .seconds(100)) == nil)
    }
}
