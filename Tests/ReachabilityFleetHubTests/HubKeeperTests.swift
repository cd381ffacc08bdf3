import Dispatch
import Foundation
import LinuxSupport
import ReachabilityFleet
import ReachabilityFleetHub
import ReachabilityLedger
import ReachabilityService
import TestSupport
import Testing

/// What is acknowledged is kept.
@Suite struct HubKeeperTests {
    /// Keeps in memory, unless it is told not to.
    private final class FaultyStore: HubStore {
        let memory = MemoryHubStore()
        let isFull = Locked(false)

        func contents() throws(HistoryFault) -> HubContents { memory.contents() }
        func save(_ changes: HubChanges) throws(HistoryFault) {
            if isFull.withLock(\.self) { throw HistoryFault(.full, "hub.sqlite", "the disk is full") }
            memory.save(changes)
        }
        func hasOutage(_ id: String, of place: FleetPlace) throws(HistoryFault) -> Bool {
            memory.hasOutage(id, of: place)
        }
        func incidents(_ query: IncidentQuery) throws(HistoryFault) -> [IncidentSummary] { memory.incidents(query) }
        func incident(_ id: String) throws(HistoryFault) -> FleetIncident? { memory.incident(id) }
        func forget(_ places: [FleetPlace]) throws(HistoryFault) { memory.forget(places) }
        func deleteIncidents(endedBefore moment: Duration, limit: Int) throws(HistoryFault) -> Int {
            memory.deleteIncidents(endedBefore: moment, limit: limit)
        }
        func told() throws(HistoryFault) -> [Incident] { memory.told() }
        func save(told: [Incident], forgetting gone: [String]) throws(HistoryFault) {
            memory.save(told: told, forgetting: gone)
        }
        func close() {}
    }

    private static let message = Hub.Message.event("pump", "s", 130, .outage(outage("o", 100, 120)), number: 1)

    @Test func `a message is acknowledged when it is in the store`() throws {
        let store = MemoryHubStore()
        let keeper = try HubKeeper(store, clock: { at(130) })
        let pump = try place("pump")
        let wasKept = Locked<Bool?>(nil)
        keeper.take([.init(Self.message) { wasKept.withLock { $0 = store.hasOutage("o", of: pump) } }])
        keeper.flush()
        #expect(wasKept.withLock(\.self) == true)
        #expect(store.contents().devices.map(\.place) == [pump])
        keeper.stop()
    }

    @Test func `while the disk is full nobody is heard, and nobody falls silent`() throws {
        let store = FaultyStore()
        let time = Locked(at(0))
        let keeper = try HubKeeper(store, clock: { time.withLock(\.self) })
        keeper.brokerIsBack()
        keeper.take([.init(.online("pump", "s", 0)) {}])
        keeper.flush()
        store.isFull.withLock { $0 = true }
        keeper.take([.init(.online("pump", "s", 100)) {}])
        keeper.flush()
        #expect(keeper.fault != nil)
        time.withLock { $0 = at(10_000) }
        for _ in 0..<2 {
            keeper.take([.init(.online("pump", "s", 9_900)) {}])
            keeper.pass()
            keeper.flush()
            #expect(keeper.hub.devices.values.first?.presence.standing == .online)
            store.isFull.withLock { $0 = false }
        }
        #expect(keeper.fault == nil)
        keeper.stop()
    }

    @Test func `where the disk is full nothing is acknowledged, and all is when it is not any more`() throws {
        let store = FaultyStore()
        let log = RecordingLog()
        let keeper = try HubKeeper(store, clock: { at(130) }, logger: log.logger)
        let acknowledged = Locked(0)
        store.isFull.withLock { $0 = true }
        for _ in 0..<3 { keeper.take([.init(Self.message) { acknowledged.withLock { $0 += 1 } }]) }
        keeper.flush()
        keeper.flush()
        #expect(acknowledged.withLock(\.self) == 0)
        #expect(keeper.fault?.kind == .full)
        store.isFull.withLock { $0 = false }
        keeper.flush()
        #expect(acknowledged.withLock(\.self) == 3)
        #expect(
            log.lines == [
                "warning: the history hub.sqlite cannot be used: the disk is full",
                "notice: the history can be written again",
            ]
        )
        #expect(try store.memory.hasOutage("o", of: place("pump")))
        keeper.stop()
    }

    @Test func `what waits is bounded`() throws {
        let store = MemoryHubStore()
        let keeper = try HubKeeper(store, clock: { at(130) })
        let many = (0...HubKeeper.pendingLimit).map { _ in HubKeeper.Delivery(Self.message) {} }
        #expect(!keeper.take(many))
        #expect(keeper.take([.init(Self.message) {}]))
        keeper.stop()
        #expect(!keeper.take([.init(Self.message) {}]))
    }

    @Test func `who brings more than there is room for waits until there is`() throws {
        let (store, gate) = (MemoryHubStore(), DispatchSemaphore(value: 0))
        let keeper = try HubKeeper(store, clock: { at(130) })
        // Telling of the first holds up the rest.
        keeper.addListener { _, _ in gate.wait() }
        let many = (0..<HubKeeper.pendingLimit).map { _ in HubKeeper.Delivery(Self.message) {} }
        #expect(keeper.take([.init(Self.message) {}]))
        #expect(keeper.take(many))
        let isTaken = Locked<Bool?>(nil)
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let taken = keeper.take([.init(Self.message) {}])
            isTaken.withLock { $0 = taken }
            done.signal()
        }
        #expect(isTaken.withLock(\.self) == nil)
        for _ in 0...HubKeeper.pendingLimit { gate.signal() }
        done.wait()
        #expect(isTaken.withLock(\.self) == true)
        keeper.stop()
    }

    /// Kills it again and again: what it has acknowledged is in the file, what it has not is sent again, and nothing is there twice.
    /// HUB_KILLS says how often; 5 times without.
    @Test func `a hub that is killed loses nothing it has acknowledged`() throws {
        let directory = try ScratchDirectory()
        let file = directory.file("hub.sqlite")
        let kills = max(1, EnvironmentVariable.value(of: "HUB_KILLS").flatMap(Int.init) ?? 5)
        var chance = SeededGenerator(seed: 3)
        let devices = ["d0", "d1", "d2"]
        let total = 1200
        // Each outage a thing of its own.
        let lines = (0..<total).map { number in
            let own = outage("o\(number)", number * 100, number * 100 + 10)
            let message = Hub.Message.event(
                devices[number % 3],
                "s",
                number * 100 + 20,
                .outage(own),
                number: UInt64(number / 3 + 1)
            )
            let time = message.time.components.seconds * 1000
            return "\(number) \(time) \(message.topic) \(String(decoding: message.payload, as: UTF8.self))\n"
        }
        var acknowledged: Set<Int> = []
        for round in 0...kills {
            let process = Process()
            process.executableURL = URL(fileURLWithPath: BuiltProgram.path("HubVictim"))
            process.arguments = [file]
            let (input, output) = (Pipe(), Pipe())
            (process.standardInput, process.standardOutput) = (input, output)
            try process.run()
            let rest = lines.indices.filter { !acknowledged.contains($0) }
            let isLast = round == kills
            // It is killed after some acknowledgements, in the midst of what it does.
            let some = Int.random(in: 1...max(1, total / kills), using: &chance)
            let enough = isLast ? rest.count : min(rest.count, some)
            let writer = Thread {
                // The signal of a pipe whose reader was killed goes to the thread that writes.
                var signals = sigset_t()
                sigemptyset(&signals)
                sigaddset(&signals, SIGPIPE)
                pthread_sigmask(SIG_BLOCK, &signals, nil)
                for index in rest { try? input.fileHandleForWriting.write(contentsOf: Data(lines[index].utf8)) }
                if isLast { try? input.fileHandleForWriting.close() }
            }
            writer.start()
            var (text, count) = (Data(), 0)
            while count < enough {
                let part = output.fileHandleForReading.availableData
                if part.isEmpty { break }
                text += part
                count = text.count { $0 == UInt8(ascii: "\n") }
            }
            if !isLast { kill(process.processIdentifier, SIGKILL) }
            text += output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            while !writer.isFinished { usleep(1000) }
            for line in String(decoding: text, as: UTF8.self).split(separator: "\n") {
                if let number = Int(line) { acknowledged.insert(number) }
            }
            let store = try SQLiteHubStore(file)
            for number in acknowledged {
                #expect(
                    try store.hasOutage("o\(number)", of: place(devices[number % 3])),
                    "\(number) in round \(round)"
                )
            }
            store.close()
        }
        #expect(acknowledged.count == total)
        let store = try SQLiteHubStore(file)
        defer { store.close() }
        var incidents: [IncidentSummary] = []
        while true {
            let page = try store.incidents(IncidentQuery(after: incidents.last?.id, limit: 500))
            if page.isEmpty { break }
            incidents += page
        }
        #expect(incidents.count == total)
    }
}
