import Foundation
import LinuxSupport
import NetworkLab
import Testing

/// `reachability serve` whose history lies on a small disk of its own. SERVICE_FULL says for how many seconds more that is full.
@Suite struct ServeDiskTests {
    private static let full = EnvironmentVariable.value(of: "SERVICE_FULL").flatMap(Int.init) ?? 0

    private let directory: ScratchDirectory
    private let machine: PrivateMachine
    private var socket: String { directory.file("api.sock") }

    /// A disk of a megabyte, and a network by a link that can be taken down.
    init() async throws {
        directory = try ScratchDirectory()
        machine = try await PrivateMachine.make()
        try await machine.sh(
            """
            mkdir /run/disk && mount -t tmpfs -o size=1m tmpfs /run/disk
            ip link add d0 type veth peer d1 && ip link set d1 up && ip addr add 192.0.2.2/24 dev d0
            \(Self.up)
            """
        )
    }

    private static let up = "ip link set d0 up && ip route replace default via 192.0.2.1"

    private func start() async throws -> RunningCommand {
        let command = try await machine.start(
            "serve --listen none --socket \(socket) --history /run/disk/history.sqlite"
        )
        #expect(try await command.line() == "listening at \(socket)")
        return command
    }

    private struct Readiness: Decodable {
        struct History: Decodable, Equatable {
            let state: String
            let pending: Int
        }
        let history: History
    }

    /// Waits until the service says of its history what is asked for.
    private func history(is condition: (Readiness.History) -> Bool) async throws -> Bool {
        try await eventually {
            let text = try await ServeLab.get("/readyz", at: socket)
            return condition(try JSONDecoder().decode(Readiness.self, from: Data(text.utf8)).history)
        }
    }

    /// Takes the link down and up, and waits until both are known.
    private func fail(_ number: Int) async throws {
        try await machine.sh("ip link set d0 down")
        #expect(try await eventually { try await open() == 1 })
        try await machine.sh(Self.up)
        #expect(try await eventually { try await open() == 0 })
        #expect(try await ServeLab.outages(at: socket).count == number)
    }

    private func open() async throws -> Int { try await ServeLab.outages(at: socket).count { $0.end == nil } }

    private func end(_ command: RunningCommand, by signal: CInt) async throws {
        command.signal(signal)
        #expect(try await command.result().status == (signal == SIGKILL ? -SIGKILL : 0))
    }

    @Test func `what happens while the disk is full is written when there is room again`() async throws {
        let first = try await start()
        try await fail(1)
        #expect(try await history { $0 == .init(state: "ok", pending: 0) })
        // What SQLite has of the disk it keeps, so it must want more than that.
        try await machine.sh("! dd if=/dev/zero of=/run/disk/filler bs=4096 2> /run/why && grep -q space /run/why")
        var number = 1
        while try await !history(isFullAfter: &number) {}
        try await Task.sleep(for: .seconds(Self.full))
        let lengths = try await ServeLab.outages(at: socket).map(\.durationNanoseconds)
        #expect(lengths.count == number)
        let metrics = try await ServeLab.get("/metrics", at: socket)
        #expect(metrics.contains("reachability_history_fault{fault=\"full\"} 1\n"))
        #expect(try await ServeLab.get("/healthz", at: socket) == "ok\n")
        try await machine.sh("rm /run/disk/filler")
        #expect(try await history { $0 == .init(state: "ok", pending: 0) })
        try await first.untilErrors(contain: "can be written again")
        let errors = await first.errors
        #expect(errors.ranges(of: "is full").count == 1, "\(errors)")
        #expect(errors.ranges(of: "can be written again").count == 1)
        try await end(first, by: SIGKILL)
        let second = try await start()
        #expect(try await ServeLab.outages(at: socket).map(\.durationNanoseconds) == lengths)
        try await end(second, by: SIGTERM)
    }

    /// Makes one more outage, and says whether the disk was found to be full by it.
    private func history(isFullAfter number: inout Int) async throws -> Bool {
        number += 1
        try await fail(number)
        let text = try await ServeLab.get("/readyz", at: socket)
        let history = try JSONDecoder().decode(Readiness.self, from: Data(text.utf8)).history
        if history.state == "ok", number > 500 { throw LabError("the disk never filled") }
        return history.state == "full" && history.pending > 0
    }

    @Test func `a file that is deleted while the service runs is made anew, and nothing is lost`() async throws {
        let first = try await start()
        try await fail(1)
        try await machine.sh("rm /run/disk/history.sqlite*")
        try await fail(2)
        #expect(try await history { $0 == .init(state: "ok", pending: 0) })
        try await machine.sh("mv /run/disk/history.sqlite /run/disk/elsewhere")
        try await fail(3)
        #expect(try await history { $0 == .init(state: "ok", pending: 0) })
        let lengths = try await ServeLab.outages(at: socket).map(\.durationNanoseconds)
        #expect(lengths.count == 3)
        let errors = await first.errors
        #expect(errors.ranges(of: "was deleted or moved away").count == 2, "\(errors)")
        try await end(first, by: SIGKILL)
        let second = try await start()
        #expect(try await ServeLab.outages(at: socket).map(\.durationNanoseconds) == lengths)
        try await end(second, by: SIGTERM)
    }

    @Test func `a disk that can only be read is told, and written as soon as that ends`() async throws {
        let first = try await start()
        try await fail(1)
        try await end(first, by: SIGTERM)
        try await machine.sh("mount -o remount,ro /run/disk")
        let second = try await start()
        #expect(try await history { $0.state == "denied" })
        try await machine.sh("ip link set d0 down")
        #expect(try await eventually { try await open() == 1 })
        try await machine.sh("mount -o remount,rw /run/disk && \(Self.up)")
        #expect(try await eventually { try await open() == 0 })
        #expect(try await history { $0 == .init(state: "ok", pending: 0) })
        try await end(second, by: SIGKILL)
        let third = try await start()
        #expect(try await ServeLab.outages(at: socket).count { $0.ending == nil || $0.ending == "up" } >= 2)
        try await end(third, by: SIGTERM)
    }
}
