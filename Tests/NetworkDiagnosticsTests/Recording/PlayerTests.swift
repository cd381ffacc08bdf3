import LinuxSupport
import Netlink
import NetworkReachability
import Testing

@testable import NetworkDiagnostics

/// A recording always plays the same lines, and similar lines if something is missing.
@Suite struct PlayerTests {
    @Test func `a recording always plays the same lines`() throws {
        for (name, bytes) in try SampleRecording.real {
            let recording = try Recording(bytes)
            #expect(recording.damage == nil)
            let first = try PlayedLines.play(recording)
            #expect(first.lines.count > 3, "\(name)")
            #expect(first.diagnosis == nil, "\(name)")
            for _ in 0..<3 { #expect(try PlayedLines.play(recording).lines == first.lines) }
        }
    }

    /// The messages alone, without the turns that they started, would be an empty recording.
    @Test func `a missing query is reported once, and the nearest answer is used`() throws {
        let recording = try Recording(try #require(try SampleRecording.real["links.nlrec"]))
        let whole = try PlayedLines.play(recording, .status)
        var poorer = recording
        var dropped: Set<[UInt8]> = []
        poorer.records.removeAll { record in
            guard case .messages(.request, let request) = record.content else { return false }
            // The source and the interface restrict a query. These files also contain the queries without them.
            guard case .route = NetlinkRequest(request).subject, request.count > 36 else {
                return false
            }
            dropped.insert(request)
            return true
        }
        #expect(!dropped.isEmpty)
        let (lines, diagnosis) = try PlayedLines.play(poorer, .status)
        #expect(try #require(diagnosis).hasSuffix("; the nearest answer is used"))
        func states(_ lines: [String]) -> [Substring] { lines.map { $0.drop { $0 != " " } } }
        #expect(states(lines).first == states(whole.lines).first)
    }

    @Test func `answers are used in the order of the turns, then by distance in time`() throws {
        let question = RecordedTurns.Question.request(
            SampleRecording.request.enumerated().map { 8..<12 ~= $0 ? 0 : $1 }
        )
        func asked(_ answer: UInt8, _ second: Int) -> [Record] {
            [
                Record(.messages(.request, SampleRecording.request), at: .seconds(second)),
                Record(.messages(.reply, [answer]), at: .seconds(second)),
            ]
        }
        let records =
            [Record(.start, at: .seconds(20))] + asked(1, 21) + asked(2, 22) + [
                Record(.wake, at: .seconds(30)), Record(.wake, at: .seconds(40)),
            ] + asked(3, 41)
        var state = Player.State(try Recording(SampleRecording.bytes(of: records)))
        func answer() throws -> UInt8? { try state.take(question)?.reply.get().last }
        // Before all others, the first future answer is the nearest.
        #expect(try answer() == 1)
        _ = state.nextTurn()
        #expect(try [answer(), answer(), answer()] == [1, 2, 2])
        _ = state.nextTurn()
        #expect(try [answer(), answer()] == [2, 2])
        _ = state.nextTurn()
        #expect(try [answer(), answer()] == [3, 3])
        #expect(state.now == .seconds(41))
        #expect(state.take(.request([2])) == nil)
    }

    @Test func `a turn that may lack answers is not played`() throws {
        let turns = [Record(.start, at: .seconds(20)), Record(.wake, at: .seconds(30))]
        func times(_ bytes: [UInt8]) throws -> [Duration] { RecordedTurns(try Recording(bytes)).turns.map(\.time) }
        let whole = SampleRecording.bytes(of: turns + [Record(.end, "", "on demand", at: .seconds(31))])
        #expect(try times(whole) == [.seconds(10), .seconds(20), .seconds(30)])
        let limited = SampleRecording.bytes(of: turns + [Record(.end, "", Note.limit, at: .seconds(31))])
        #expect(try times(limited) == [.seconds(10), .seconds(20)])
        // After a complete record, and within the next.
        let count = SampleRecording.bytes(of: turns).count
        #expect(try times(Array(whole.prefix(count))) == [.seconds(10), .seconds(20), .seconds(30)])
        #expect(try times(Array(whole.prefix(count + 9))) == [.seconds(10), .seconds(20)])
    }

    @Test func `a clock that is set changes the time of later lines`() throws {
        var state = Player.State(try SampleRecording.everything)
        var moments: [RecordedMoment] = []
        while let turn = state.nextTurn() {
            state.enter(turn)
            if turn.note.kind == .namespaceChanged || turn.note.kind == .namesChanged { moments.append(state.moment) }
        }
        #expect(
            moments == [
                RecordedMoment(real: .seconds(1_700_000_006), monotonic: .seconds(16), boot: .seconds(18)),
                RecordedMoment(real: .seconds(1_700_000_101), monotonic: .seconds(18), boot: .seconds(100)),
            ]
        )
    }

    @Test func `an action that the recording does not contain runs when it is due`() throws {
        let records = [Record(.start, at: .seconds(20)), Record(.wake, at: .seconds(30))]
        var state = Player.State(try Recording(SampleRecording.bytes(of: records)))
        let turn = state.nextTurn()
        state.enter(try #require(turn))
        let (late, soon, over) = (OneShot {}, OneShot {}, OneShot {})
        state.wait(late, .seconds(5))
        state.wait(soon, .zero)
        state.wait(over, .seconds(1))
        over.cancel()
        #expect(state.takeUnrecorded(until: .seconds(20)) === soon)
        #expect(state.takeUnrecorded(until: .seconds(24)) == nil)
        #expect(state.takeUnrecorded(until: .seconds(25)) === late)
        #expect(state.now == .seconds(25))
        #expect(state.takeUnrecorded(until: .seconds(100)) == nil)
    }
}

/// Plays a recording. Returns one line per reported path.
enum PlayedLines {
    static func play(
        _ recording: Recording,
        _ interest: NetworkReachabilityInterest = .path
    ) throws -> (lines: [String], diagnosis: String?) {
        let player = Player(recording)
        let targets = try RecordedTargets(
            recording.header.hosts,
            in: player.environment,
            options: recording.header.options
        )
        let lines = Locked<[String]>([])
        var tokens: [NetworkReachabilityToken] = []
        player.run(on: targets.monitor.queue) {
            tokens = targets.listen(for: interest) { host, path in
                let line = "\(player.moment().monotonic) \(host ?? "network"): \(path)"
                lines.withLock { $0.append(line) }
            }
        }
        withExtendedLifetime(tokens) {}
        tokens = []
        player.end(on: targets.monitor.queue)
        return (lines.withLock { $0 }, player.diagnosis)
    }
}
