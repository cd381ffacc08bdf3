import Dispatch
import Foundation
import GRDB
import LinuxSupport
import ReachabilityFleet
import ReachabilityLedger
import TestSupport
import Testing

@testable import ReachabilityFleetHub
@testable import ReachabilityService

/// Saved messages are kept, and lost ones are requested again.
@Suite struct HubWriterTests {
    /// A disk that can be full.
    private final class Disk: TransactionObserver, Sendable {
        let isFull = Locked(false)

        init(of store: HubStore) { store.database.database.add(transactionObserver: self) }

        func observes(eventsOfKind eventKind: DatabaseEventKind) -> Bool { true }
        func databaseDidChange(with event: DatabaseEvent) {}
        func databaseWillCommit() throws {
            guard isFull.withLock(\.self) else { return }
            throw DatabaseError(resultCode: .SQLITE_FULL, message: "the disk is full")
        }
        func databaseDidCommit(_ db: Database) {}
        func databaseDidRollback(_ db: Database) {}
    }

    private static let message = Hub.Message.event("pump", "s", 130, .outage(outage("o", 100, 120)), number: 1)

    @Test func `listeners are called when a message is in the store`() throws {
        let store = try HubStore()
        let writer = try HubWriter(store, clock: { at(130) })
        let pump = try place("pump")
        let isSaved = Locked<Bool?>(nil)
        writer.addListener { _, _ in isSaved.withLock { $0 = try? store.hasOutage("o", of: pump) } }
        writer.take([Self.message])
        writer.flush()
        #expect(isSaved.withLock(\.self) == true)
        #expect(try store.contents().devices.map(\.place) == [pump])
        writer.stop()
    }

    @Test func `while the disk is full no message is processed, and no machine becomes silent`() throws {
        let store = try HubStore()
        let disk = Disk(of: store)
        let time = Locked(at(0))
        let writer = try HubWriter(store, clock: { time.withLock(\.self) })
        writer.brokerConnected()
        writer.take([.online("pump", "s", 0)])
        writer.flush()
        disk.isFull.withLock { $0 = true }
        writer.take([.online("pump", "s", 100)])
        writer.flush()
        #expect(writer.fault != nil)
        time.withLock { $0 = at(10_000) }
        for _ in 0..<2 {
            writer.take([.online("pump", "s", 9_900)])
            writer.pass()
            writer.flush()
            #expect(writer.hub.devices.values.first?.presence.standing == .online)
            disk.isFull.withLock { $0 = false }
        }
        #expect(writer.fault == nil)
        writer.stop()
    }

    @Test func `messages that arrive while the disk is full are saved when it is not`() throws {
        let store = try HubStore()
        let disk = Disk(of: store)
        let log = RecordingLog()
        let writer = try HubWriter(store, clock: { at(130) }, logger: log.logger)
        disk.isFull.withLock { $0 = true }
        for _ in 0..<3 { writer.take([Self.message]) }
        writer.flush()
        writer.flush()
        #expect(writer.fault?.kind == .full)
        #expect(try !store.hasOutage("o", of: place("pump")))
        disk.isFull.withLock { $0 = false }
        writer.flush()
        #expect(writer.fault == nil)
        #expect(try store.hasOutage("o", of: place("pump")))
        #expect(
            log.lines == [
                "warning: cannot use the history :memory:: the disk is full; free some space",
                "notice: the history can be written again",
            ]
        )
        writer.stop()
    }

    @Test func `the number of waiting messages is bounded`() throws {
        let writer = try HubWriter(HubStore(), clock: { at(130) })
        #expect(!writer.take((0...HubWriter.pendingLimit).map { _ in Self.message }))
        #expect(writer.take([Self.message]))
        writer.stop()
        #expect(!writer.take([Self.message]))
    }

    @Test func `a caller with too many messages blocks until there is space`() throws {
        let gate = DispatchSemaphore(value: 0)
        let writer = try HubWriter(HubStore(), clock: { at(130) })
        // The listener of the first message delays the others.
        writer.addListener { _, _ in gate.wait() }
        #expect(writer.take([Self.message]))
        #expect(writer.take((0..<HubWriter.pendingLimit).map { _ in Self.message }))
        let isTaken = Locked<Bool?>(nil)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let taken = writer.take([Self.message])
            isTaken.withLock { $0 = taken }
            done.signal()
        }
        #expect(isTaken.withLock(\.self) == nil)
        for _ in 0...HubWriter.pendingLimit { gate.signal() }
        done.wait()
        #expect(isTaken.withLock(\.self) == true)
        writer.stop()
    }

    /// Kills a hub repeatedly. The broker has acknowledged each message that was sent, so a machine repeats only the
    /// events that the hub requests. HUB_KILLS sets the number of kills, 5 by default.
    @Test func `a killed hub requests all lost events again and has no event twice`() throws {
        let directory = try ScratchDirectory()
        let file = directory.file("hub.sqlite")
        let kills = max(1, EnvironmentVariable.value(of: "HUB_KILLS").flatMap(Int.init) ?? 5)
        var chance = SeededGenerator(seed: 3)
        var fleet = LostFleet()
        for round in 0...kills {
            let victim = try Victim(file, run: "run\(round)")
            for machine in fleet.machines.indices { try fleet.greet(victim, machine, round) }
            let isLast = round == kills
            let messages = fleet.pending(isLast ? .max : Int.random(in: 1...fleet.total / kills, using: &chance))
            // The process is killed while it saves.
            let enough = isLast ? messages.count : Int.random(in: 0...messages.count, using: &chance)
            let sent = try victim.send(messages.map(\.line), untilSaved: enough, kill: !isLast)
            for message in messages.prefix(sent) { fleet.acknowledge(message) }
        }
        let store = try HubStore(file)
        defer { store.close() }
        var outages: [String] = []
        var last: String?
        while true {
            let page = try store.incidents(IncidentQuery(after: last, limit: 500))
            guard let next = page.last?.id else { break }
            last = next
            for summary in page {
                let parts = try #require(try store.incident(summary.id)).parts.values
                outages += parts.flatMap(\.outages.keys)
            }
        }
        #expect(outages.sorted() == (0..<fleet.total).map { "o\($0)" }.sorted())
    }
}

/// Machines that send each event once, except those that the hub requests again.
private struct LostFleet {
    struct Message {
        let machine: Int
        let number: Int
        let line: String
    }

    struct Machine {
        let name: String
        /// The number of the last event that the broker has acknowledged.
        var acknowledged = 0
        /// The number of the next event to send.
        var next = 1
    }

    let total = 1200
    private var session = ""
    private var now = 0
    private(set) var machines = ["d0", "d1", "d2"].map { Machine(name: $0) }

    /// A machine publishes its state and answers the replay request.
    mutating func greet(_ victim: Victim, _ machine: Int, _ round: Int) throws {
        let acknowledged = machines[machine].acknowledged
        session = "s\(round)"
        now += 1
        var report = DeviceState.Report(
            boot: "one",
            wall: at(now),
            bootTime: .seconds(now),
            refresh: .seconds(86_400)
        )
        report.acknowledged = position(acknowledged)
        let state = DeviceState(session: session, standing: .online, report: report)
        victim.write(line(machine, "state", state.bytes))
        machines[machine].next = acknowledged + 1
        guard let replay = try victim.replay() else { return }
        let mark = try #require(replay.mark)
        machines[machine].next = Int(replay.position?.number ?? 0) + 1
        try #require(machines[machine].next <= acknowledged + 1)
        let event = DeviceEvent(session: session, position: nil, wall: at(now), kind: .replaying(mark: mark))
        victim.write(line(machine, "event", event.bytes))
    }

    /// Returns the next events of all machines, in turn.
    mutating func pending(_ limit: Int) -> [Message] {
        var messages: [Message] = []
        while messages.count < limit, machines.contains(where: { $0.next <= total / machines.count }) {
            for machine in machines.indices where machines[machine].next <= total / machines.count {
                let number = machines[machine].next
                let id = (number - 1) * machines.count + machine
                now = max(now + 1, id * 100 + 20)
                let event = DeviceEvent(
                    session: session,
                    position: position(number),
                    after: position(number - 1),
                    wall: at(now),
                    kind: .outage(outage("o\(id)", id * 100, id * 100 + 10))
                )
                messages.append(Message(machine: machine, number: number, line: line(machine, "event", event.bytes)))
                machines[machine].next += 1
            }
        }
        return messages
    }

    mutating func acknowledge(_ message: Message) {
        machines[message.machine].acknowledged = max(machines[message.machine].acknowledged, message.number)
    }

    private func position(_ number: Int) -> EventPosition? {
        number > 0 ? EventPosition(epoch: "e", number: UInt64(number)) : nil
    }

    private func line(_ machine: Int, _ topic: String, _ payload: [UInt8]) -> String {
        let name = machines[machine].name
        let text = String(decoding: payload, as: UTF8.self)
        return "\(at(now).components.seconds * 1000) reach/v1/north/\(name)/\(topic) \(text)\n"
    }
}

/// A process with a hub.
private final class Victim {
    private let process = Process()
    private let (input, output) = (Pipe(), Pipe())
    private var buffer = Data()
    private var saved = 0

    init(_ file: String, run: String) throws {
        process.executableURL = URL(fileURLWithPath: BuiltProgram.path("HubVictim"))
        process.arguments = [file, run]
        (process.standardInput, process.standardOutput) = (input, output)
        try process.run()
    }

    func write(_ line: String) { try? input.fileHandleForWriting.write(contentsOf: Data(line.utf8)) }

    /// Returns the replay request for a state; nil if there was no request.
    func replay() throws -> DeviceReplay? {
        while let line = next() {
            if line == "none" { return nil }
            guard line.hasPrefix("replay ") else { continue }
            guard case .replay(let replay) = try DeviceCommand(Array(line.dropFirst("replay ".count).utf8)) else {
                break
            }
            return replay
        }
        throw CocoaError(.fileReadCorruptFile)
    }

    /// Sends lines until a number of events is saved. Then it kills the process or waits for its end.
    ///
    /// - Returns: The number of lines that were sent.
    func send(_ lines: [String], untilSaved count: Int, kill isKilled: Bool) throws -> Int {
        saved = 0
        let sent = Locked(0)
        let writer = Thread { [input] in
            // Writing to a closed pipe sends SIGPIPE to the writing thread.
            var signals = sigset_t()
            sigemptyset(&signals)
            sigaddset(&signals, SIGPIPE)
            pthread_sigmask(SIG_BLOCK, &signals, nil)
            for line in lines {
                do { try input.fileHandleForWriting.write(contentsOf: Data(line.utf8)) } catch { break }
                sent.withLock { $0 += 1 }
            }
            if !isKilled { try? input.fileHandleForWriting.close() }
        }
        writer.start()
        while saved < count, next() != nil {}
        if isKilled { kill(process.processIdentifier, SIGKILL) }
        while next() != nil {}
        process.waitUntilExit()
        while !writer.isFinished { usleep(1000) }
        return sent.withLock(\.self)
    }

    /// Returns the next line; nil at the end.
    private func next() -> String? {
        while true {
            if let end = buffer.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: buffer[..<end], as: UTF8.self)
                buffer = Data(buffer[(end + 1)...])
                if line.hasPrefix("saved "), let count = Int(line.dropFirst("saved ".count)) { saved += count }
                return line
            }
            let part = output.fileHandleForReading.availableData
            if part.isEmpty { return nil }
            buffer += part
        }
    }
}
