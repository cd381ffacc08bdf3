import LinuxSupport
import NetworkLab
import NetworkReachability
import TestSupport
import Testing

@testable import ReachabilityChecks

/// The execution of a schedule, in virtual time.
@Suite struct CheckSessionTests {
    /// A line with timed faults.
    private final class PlayedLine: Sendable {
        struct Counts: Hashable {
            var rounds = 0
            var observations = 0
            var running = 0
            var cancelled = 0
        }

        let counts = Locked(Counts())
        private let world: VirtualWorld
        private let faults: [(from: Duration, verdict: CheckVerdict)]
        private let finding: PassiveFinding
        private let events: [(at: Duration, event: ScheduleEvent)]
        private let length: Duration

        init(
            _ world: VirtualWorld,
            faults: [(from: Duration, verdict: CheckVerdict)] = [],
            finding: PassiveFinding = .silent,
            events: [(at: Duration, event: ScheduleEvent)] = [],
            length: Duration = .milliseconds(100)
        ) {
            (self.world, self.faults, self.finding, self.length) = (world, faults, finding, length)
            self.events = [(.zero, .path(CheckLine(Situation().evidence.path)))] + events
        }

        /// - Parameter events: The events at the start. `run` sends the later ones.
        func session(_ options: CheckSchedule.Options = .init()) -> CheckSession {
            let (stream, continuation) = AsyncStream.makeStream(of: ScheduleEvent.self)
            for (time, event) in events where time == .zero { continuation.yield(event) }
            self.continuation.withLock { $0 = continuation }
            return CheckSession(
                CheckSchedule(options, chance: SeededGenerator(seed: 5)),
                clock: world,
                work: CheckSession.Work(
                    events: { stream },
                    runRound: { [self] _ in await round() },
                    observe: { [self] in
                        counts.withLock { $0.observations += 1 }
                        return finding
                    }
                )
            )
        }

        private let continuation = Locked<AsyncStream<ScheduleEvent>.Continuation?>(nil)

        /// Sends the later events.
        func play() async {
            for (time, event) in events where time > .zero {
                try? await world.sleep(until: VirtualWorld.Instant(offset: time), tolerance: nil)
                _ = continuation.withLock { $0?.yield(event) }
            }
        }

        private func round() async -> (CheckVerdict, ProbeCost) {
            counts.withLock {
                $0.rounds += 1
                $0.running += 1
                precondition($0.running == 1, "two rounds at a time")
            }
            defer { counts.withLock { $0.running -= 1 } }
            let verdict = faults.last { $0.from <= world.time }?.verdict ?? .fine
            if (try? await world.sleep(until: VirtualWorld.Instant(offset: world.time + length), tolerance: nil)) == nil
            {
                counts.withLock { $0.cancelled += 1 }
            }
            return (verdict, ProbeCost(packets: 16, bytes: 2200))
        }
    }

    /// Runs a session for some time.
    private static func run(
        _ session: CheckSession,
        _ line: PlayedLine,
        _ world: VirtualWorld,
        for duration: Duration,
        answer: @escaping @Sendable (CheckVerdict) -> Void = { _ in }
    ) -> [(time: Duration, verdict: CheckVerdict)] {
        world.run {
            let notified = Locked<[(time: Duration, verdict: CheckVerdict)]>([])
            await withTaskGroup(of: Void.self) { group in
                group.addTask {
                    await session.run(
                        notify: { verdict in notified.withLock { $0.append((world.time, verdict)) } },
                        answer: answer
                    )
                }
                group.addTask { await line.play() }
                try? await world.sleep(until: VirtualWorld.Instant(offset: duration), tolerance: nil)
                group.cancelAll()
            }
            return notified.withLock { $0 }
        }
    }

    @Test func `verdicts are notified as they change`() {
        let world = VirtualWorld()
        let line = PlayedLine(world, faults: [(.seconds(1000), .silent), (.seconds(5000), .fine)])
        let session = line.session()
        let notified = Self.run(session, line, world, for: .seconds(10_000))
        #expect(notified.map(\.verdict) == [.fine, .silent, .fine])
        #expect(notified[0].time < .seconds(1))
        #expect(notified[1].time > .seconds(1000) && notified[1].time < .seconds(1070))
        #expect(notified[2].time > .seconds(5000) && notified[2].time < .seconds(5080))
    }

    @Test func `an idle day is one observation every 30 seconds`() {
        let world = VirtualWorld()
        let line = PlayedLine(world, finding: .fresh(age: .seconds(1)))
        let notified = Self.run(line.session(), line, world, for: .seconds(86_400))
        let counts = line.counts.withLock { $0 }
        #expect(notified.map(\.verdict) == [.fine])
        #expect(counts.rounds == 1 && counts.observations <= 2880 && counts.observations > 2870)
    }

    @Test func `a waiting caller is answered by the first success`() {
        let world = VirtualWorld()
        let line = PlayedLine(world, faults: [(.zero, .refused), (.seconds(100), .fine)])
        let times = Locked<[Duration]>([])
        let session = line.session(.init(isAwaited: true))
        let notified = Self.run(session, line, world, for: .seconds(1000)) { verdict in
            #expect(verdict == .fine)
            times.withLock { $0.append(world.time) }
        }
        #expect(notified.map(\.verdict) == [.refused, .fine])
        let first = times.withLock { $0.first }
        #expect(first.map { $0 > .seconds(100) && $0 < .seconds(180) && $0 < notified[1].time } == true)
    }

    @Test func `a round about an earlier path is cancelled, and a new one runs`() {
        let world = VirtualWorld()
        var path = CheckLine(Situation().evidence.path)
        path.generation = 2
        let line = PlayedLine(world, events: [(.milliseconds(500), .path(path))], length: .seconds(3))
        let notified = Self.run(line.session(), line, world, for: .seconds(20))
        let counts = line.counts.withLock { $0 }
        #expect(counts.cancelled == 1 && counts.rounds == 2 && notified.map(\.verdict) == [.fine])
    }

    @Test func `the end of a session cancels its work`() {
        let world = VirtualWorld()
        let line = PlayedLine(world, length: .seconds(3600))
        let notified = Self.run(line.session(), line, world, for: .seconds(1))
        #expect(notified.isEmpty && world.time == .seconds(1))
        #expect(line.counts.withLock { $0 } == .init(rounds: 1, observations: 0, running: 0, cancelled: 1))
    }
}

/// The sequence, in real time without sleeps.
@Suite struct CheckVerdictsTests {
    /// Counts the work of a session that has not ended.
    private final class Watched: Sendable {
        let live = Locked(0)
        let verdict: Locked<CheckVerdict>
        let events: Locked<[AsyncStream<ScheduleEvent>.Continuation]> = Locked([])

        init(_ verdict: CheckVerdict) {
            self.verdict = Locked(verdict)
        }

        func change(to verdict: CheckVerdict, generation: UInt64) {
            self.verdict.withLock { $0 = verdict }
            var line = CheckLine(Situation().evidence.path)
            line.generation = generation
            line.obstacle = verdict.isWorking ? nil : verdict
            for continuation in events.withLock({ $0 }) { continuation.yield(.path(line)) }
        }

        var verdicts: CheckVerdicts {
            CheckVerdicts { [self] in
                live.withLock { $0 += 1 }
                return CheckSession(
                    CheckSchedule(),
                    work: .init(
                        events: { [self] in
                            let (stream, continuation) = AsyncStream.makeStream(of: ScheduleEvent.self)
                            continuation.onTermination = { [self] _ in live.withLock { $0 -= 1 } }
                            continuation.yield(.path(CheckLine(Situation().evidence.path)))
                            events.withLock { $0.append(continuation) }
                            return stream
                        },
                        runRound: { [self] _ in (verdict.withLock { $0 }, ProbeCost()) },
                        observe: { .fresh(age: .zero) }
                    )
                )
            }
        }
    }

    @Test func `no work is left when the loop ends`() async throws {
        let watched = Watched(.fine)
        for await verdict in watched.verdicts {
            #expect(verdict == .fine)
            break
        }
        try await waitUntil { watched.live.withLock { $0 } == 0 }
    }

    @Test func `no work is left when the task ends`() async throws {
        let watched = Watched(.fine)
        let task = Task {
            var count = 0
            for await _ in watched.verdicts { count += 1 }
            return count
        }
        try await waitUntil { !watched.events.withLock { $0.isEmpty } }
        task.cancel()
        #expect(await task.value <= 1)
        try await waitUntil { watched.live.withLock { $0 } == 0 }
    }

    @Test func `two loops are two sessions`() async throws {
        let watched = Watched(.fine)
        let verdicts = watched.verdicts
        async let one = verdicts.first { _ in true }
        async let other = verdicts.first { _ in true }
        #expect(await [one, other] == [.fine, .fine])
        try await waitUntil { watched.live.withLock { $0 } == 0 }
    }

    @Test func `changes arrive in order`() async throws {
        let watched = Watched(.fine)
        var notified: [CheckVerdict] = []
        for await verdict in watched.verdicts {
            notified.append(verdict)
            switch notified.count {
            case 1: watched.change(to: .unplugged, generation: 2)
            case 2: watched.change(to: .fine, generation: 3)
            default: break
            }
            if notified.count == 3 { break }
        }
        #expect(notified == [.fine, .unplugged, .fine])
    }
}
